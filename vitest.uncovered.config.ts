import { defineConfig } from "vitest/config"
import { testParts } from "./test/support/uncovered-tests.ts"
import config, { projectsWithout } from "./vitest.config.ts"

/** The tests that are not in vitest.covered.config.ts. */
export default defineConfig({
  ...config,
  test: { ...config.test, projects: projectsWithout(testParts().covered) },
})
