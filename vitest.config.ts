import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"
import { LONG_TESTS } from "./test/support/long-tests.ts"

/** What has no state of its own beside its modules: these need not be loaded anew for each file. */
const LOGIC = [
  "test/console/{activity,api,app,find,read,result,try,ui,watch}/**/*.test.ts",
  "test/{core,schema,config,http-client}/**/*.test.ts",
  "test/sources/openapi/**/*.test.ts",
  "test/sources/mcp/mapping/**/*.test.ts",
  "test/cli/{input,edit}/**/*.test.ts",
  "test/{engine,search}/**/*.test.ts",
  "test/transport/{bus,nats,redis,security}/**/*.test.ts",
  "test/{contract,faults,typegen}/**/*.test.ts",
  "test/sources/mcp/{round-trip,servers}/**/*.test.ts",
  "test/serve/http/**/*.test.ts",
  "test/cli/target/**/*.test.ts",
  // Those left out count the timers of their process: what other files leave to Node for a moment would count, too.
  "test/serve/mcp/**/!(surface-streams|progress).test.ts",
  "test/serve/{websocket,surfaces}.test.ts",
  "test/protocol/**/*.test.ts",
  "test/sources/mcp/{connection,loader}/**/!(changes|parts|wrapper).test.ts",
  "test/transport/{socket,websocket,worker}.test.ts",
  "test/sources/mcp/from-mcp.test.ts",
  "test/internal/manual-clock.test.ts",
  "test/{forged-envelopes,option-mistakes,options}.test.ts",
  "test/conformance/**/*.test.ts",
  "test/cli/{args,describe-spec,errors,main,output,packages,schema-text,wrap}.test.ts",
  "test/cli/{result,prompt}/!(terminal).test.ts",
  "test/cli/commands/{browse,nats-permissions}.test.ts",
  "test/hub/{activity,apply-source-config,mirror,readiness,server-options,source-ownership}.test.ts",
  "test/sources/mcp/stdio/{environment,launch,lines}.test.ts",
  "test/{pins,sources/scan,scripts}/{codes,envelope,paths,docs,png}.test.ts",
  "test/transport/{batch,lines,clusters,hot-operation,versions}.test.ts",
  "test/internal/{back-off,guards,import-peer,jsonc,listeners,trim-end,user-tag,wait}.test.ts",
  "test/hub/{broker,console-files,create-hub,hub-events,per-caller,reload,resilience,serve-hub,watch}.test.ts",
  "test/hub/config-file/{load,script}.test.ts",
  "test/cli/commands/{call,call-hub,doctor,hash-key,init,serve-in-process,types,watch}.test.ts",
  "test/cli/{doctor,import,trust}/*.test.ts",
  "test/cli/serve/{logger,suggestions,summary-progress}.test.ts",
  "test/console/e2e/*.test.ts",
  "test/serve/{accounts,foreign-pages}.test.ts",
  "test/sources/mcp/attacks/{gateway,names,schemas,secrets}.test.ts",
  "test/sources/mcp/{awkward,interop}/*.test.ts",
  "test/{pins/exports,may-have-executed}.test.ts",
  "test/hub/{canary,egress,hub-routes,lost-sources,mcp-source,middleware,policies,prepare-search}.test.ts",
  "test/hub/{questions,references,serve-http,server-logs,server-output,source-changes}.test.ts",
  "test/hub/activity/*.test.ts",
  // The one left out asks what is loaded before the first call.
  "test/policy/!(first-call).test.ts",
  "test/transport/http/{disconnects,hostile-server,http-transport}.test.ts",
  "test/{bad-input,date-steps,listeners}.test.ts",
  "test/serve/search-index.test.ts",
  "test/serve/frameworks/*.test.ts",
  "test/sources/mcp/attacks/{floods,oauth}.test.ts",
  "test/sources/scan/scanner.test.ts",
  "test/conformance-mcp/*.test.ts",
]

/** Which files are tested with which settings. */
const PROJECTS: readonly Project[] = [
  { name: "logic", include: LOGIC, exclude: [], isolate: false },
  { name: "all else", include: ["test/**/*.test.ts"], exclude: LOGIC },
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
        find: /^@alkdev\/operations\/config$/,
        replacement: `${import.meta.dirname}/src/config.ts`,
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
