import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"
import { LONG_TESTS } from "./test/support/long-tests.ts"

/**
 * Test files that need a process and modules of their own. All others share theirs with the files before them, which
 * saves loading the sources again.
 */
const ISOLATED = [
  // These count the timers, listeners or processes that are left, also those of other files.
  "test/faults.test.ts",
  "test/hub/watch-events.test.ts",
  "test/internal/{deadlines,defer}.test.ts",
  "test/serve/mcp/{progress,surface-streams}.test.ts",
  "test/sources/mcp/attacks/leftovers.test.ts",
  "test/sources/mcp/connection/{changes,parts}.test.ts",
  "test/sources/mcp/loader/wrapper.test.ts",
  "test/sources/mcp/stdio/{close,reaper,transport}.test.ts",
  "test/transport/exit.test.ts",
  // These ask what is loaded before the first use.
  "test/policy/first-call.test.ts",
  "test/transport/http/lazy-{files,streams}.test.ts",
  "test/transport/lazy-codec.test.ts",
  // These change what the whole process uses: its signals, environment, modules or globals.
  "test/cli/{replace-file,serve/{follow-config,process}}.test.ts",
  "test/hub/config-file/{script-in-process,secret-sources}.test.ts",
  "test/node/{import-module,scan-directory,tsx}.test.ts",
  // Hono replaces the global Request and Response.
  "test/serve/frameworks/*.test.ts",
  "test/transport/browser-socket.test.ts",
]

/** Which files are tested with which settings. */
const PROJECTS: readonly Project[] = [
  { name: "shared", include: ["test/**/*.test.ts"], exclude: ISOLATED, isolate: false },
  { name: "isolated", include: ISOLATED, exclude: [] },
]

interface Project {
  readonly name: string
  readonly include: string[]
  readonly exclude: string[]
  readonly isolate?: boolean
}

/** The projects without some files, which are given by their paths. */
export function projectsWithout(files: readonly string[]): { extends: true; test: Project }[] {
  return PROJECTS.map(({ exclude, ...project }) => ({
    extends: true,
    test: { ...project, exclude: [...exclude, ...files] },
  }))
}

/** Starts each project with its long tests. Where no earlier run is known, Vitest goes by the size of the files. */
class LongTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const long = new Set(LONG_TESTS.map((file) => join(import.meta.dirname, file)))
    const sorted = await super.sort(files)
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) => {
      const own = sorted.filter((file) => file.project === project)
      const isLong = ({ moduleId }: TestSpecification): boolean => long.has(moduleId)
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))]
    })
  }
}

export default defineConfig({
  // Examples import the package by its name.
  resolve: {
    alias: [
      { find: /^@alkdev\/operations$/, replacement: `${import.meta.dirname}/src/index.ts` },
      {
        find: /^@alkdev\/operations\/(config|nats)$/,
        replacement: `${import.meta.dirname}/src/$1.ts`,
      },
    ],
  },
  test: {
    projects: projectsWithout([]),
    sequence: { sequencer: LongTestsFirst },
    environment: "node",
    // Tests write the configurations that they run, and leave nothing in the home of whoever runs them.
    env: { OPERATIONS_TRUST: "1", XDG_STATE_HOME: join(tmpdir(), "operations-test-state") },
    // A test that hangs is found; one on a busy machine is given its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    // As long as `waitFor` in test/support.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // Many tests wait for processes and sockets: four at a time keep two cores busy.
    maxWorkers: Math.max(4, availableParallelism()),
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      // A browser runs it: test/console/e2e. The pattern above would take it in by its `src`.
      exclude: ["console/**"],
      reporter: ["text-summary", "json-summary"],
      reportOnFailure: true,
      // Held where coverage is asked for: `npm test -- --coverage.enabled`, as CI does.
      thresholds: { branches: 95 },
    },
  },
})
