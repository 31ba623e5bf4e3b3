import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  // Examples import the package by its name.
  resolve: {
    alias: [
      { find: /^@alkdev\/operations$/, replacement: `${import.meta.dirname}/src/index.ts` },
      {
        find: /^@alkdev\/operations\/config$/,
        replacement: `${import.meta.dirname}/src/config.ts`,
      },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    // A test that hangs is found; one on a busy machine is given its time.
    testTimeout: 60_000,
    // Many tests wait for processes and sockets: two at a time keep even two cores no more than busy.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary"],
      reportOnFailure: true,
      // Held where coverage is asked for: `npm test -- --coverage.enabled`, as CI does.
      thresholds: { branches: 95 },
    },
  },
})
