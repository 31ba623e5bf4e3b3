import { defineConfig } from "vitest/config"
import { slowTestFiles } from "./test/support/quick-files.ts"
import config, { projectsWithout } from "./vitest.config.ts"

/** The tests that start no process and are quick: `npm run test:quick`. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    setupFiles: ["test/support/no-processes.ts"],
    projects: projectsWithout(slowTestFiles()),
  },
})
