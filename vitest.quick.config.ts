import { defineConfig } from "vitest/config"
import { slowTestFiles } from "./test/support/quick-files.ts"
import config, { PROJECTS } from "./vitest.config.ts"

const slow = slowTestFiles()

/** The tests that start no process and are quick: `npm run test:quick`. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    setupFiles: ["test/support/no-processes.ts"],
    projects: PROJECTS.map(({ exclude, ...project }) => ({
      extends: true,
      test: { ...project, exclude: [...exclude, ...slow] },
    })),
  },
})
