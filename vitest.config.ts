import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"

/**
 * What tests need, by the ends of their names: `*.system.test.ts` brokers, a browser, a terminal, real documents or much
 * time, `*.process.test.ts` other processes, and all others Node alone.
 */
const KINDS = ["system", "process", "unit"] as const

type Kind = (typeof KINDS)[number]

function kindOf(file: string): Kind {
  return KINDS.find((kind) => file.endsWith(`.${kind}.test.ts`)) ?? "unit"
}

/**
 * Files that begin with `// @isolated: <reason>` have a process and modules of their own. All others share theirs with the
 * files before them, which saves loading the sources again.
 */
const FILES = readdirSync(join(import.meta.dirname, "test"), { recursive: true, encoding: "utf8" })
  .map((file) => `test/${file.replaceAll("\\", "/")}`)
  .filter((file) => file.endsWith(".test.ts"))
const ISOLATED = new Set(
  FILES.filter((file) =>
    readFileSync(join(import.meta.dirname, file), "utf8").startsWith("// @isolated: "),
  ),
)

const PROJECTS = KINDS.flatMap((kind) =>
  [false, true].map((isolate) => ({
    extends: true as const,
    test: {
      name: isolate ? `${kind}-isolated` : kind,
      include: FILES.filter((file) => kindOf(file) === kind && ISOLATED.has(file) === isolate),
      isolate,
      ...(kind === "unit" && { setupFiles: ["test/support/no-processes.ts"] }),
      ...(kind === "system" && { globalSetup: ["test/support/report-missing.ts"] }),
    },
  })),
)

/** Starts with the files that need most, so that a run does not wait for one of them at its end. */
class SystemTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const names = PROJECTS.map(({ test }) => test.name)
    const place = ({ project }: TestSpecification): number => names.indexOf(project.name)
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}

export default defineConfig({
  // Examples import the package by its name.
  resolve: {
    alias: [
      { find: /^@alkdev\/operations$/, replacement: `${import.meta.dirname}/src/index.ts` },
      {
        find: /^@alkdev\/operations\/([a-z-]+)$/,
        replacement: `${import.meta.dirname}/src/$1.ts`,
      },
      // As in applications of Next.js.
      { find: "@/lib/api", replacement: `${import.meta.dirname}/examples/frameworks/api.ts` },
      {
        find: /^@\/lib\/(members|sessions)$/,
        replacement: `${import.meta.dirname}/examples/existing-authentication/$1.ts`,
      },
    ],
  },
  test: {
    projects: PROJECTS,
    sequence: { sequencer: SystemTestsFirst },
    environment: "node",
    // Tests write the configurations that they run, and leave nothing in the home of whoever runs them.
    env: { OPERATIONS_TRUST: "1", XDG_STATE_HOME: join(tmpdir(), "operations-test-state") },
    // A test that hangs is found; one on a busy machine is given its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    // As long as `waitFor` in test/support.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // Modules that have not changed are not transformed again.
    experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest-modules" },
    // Many tests wait for processes and sockets: four at a time keep two cores busy.
    maxWorkers: Math.max(4, availableParallelism()),
    coverage: {
      provider: "custom",
      customProviderModule: "test/support/coverage.ts",
      include: ["src/**/*.ts"],
      // A browser runs it: test/console/e2e. The pattern above would take it in by its `src`.
      exclude: ["console/**"],
      reporter: ["text-summary", "json-summary"],
      reportOnFailure: true,
      // Held where coverage is asked for: `npm run test:all -- --coverage.enabled`, as CI does.
      thresholds: { branches: 95 },
    },
  },
})
