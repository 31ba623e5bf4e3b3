import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { slowTestFiles } from "./test/support/quick-files.ts"
import config, { projectsWithout } from "./vitest.config.ts"

/** The tests that start no process and are quick: `npm run test:quick`. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    setupFiles: ["test/support/no-processes.ts"],
    // They are run again and again: modules that have not changed are not transformed again.
    experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest-modules" },
    // They wait for little: each worker more would only load the sources once more.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: projectsWithout(slowTestFiles()),
  },
})
