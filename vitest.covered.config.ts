import { defineConfig } from "vitest/config"
import { testParts } from "./test/support/uncovered-tests.ts"
import config, { projectsWithout } from "./vitest.config.ts"

/** The part of the tests that CI measures coverage with. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    projects: projectsWithout(testParts().uncovered),
    coverage: {
      ...config.test?.coverage,
      enabled: true,
      provider: "custom",
      customProviderModule: "test/support/coverage.ts",
    },
  },
})
