import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary"],
      // Held where coverage is asked for: `npm test -- --coverage.enabled`, as CI does.
      thresholds: { branches: 95 },
    },
  },
})
