/**
 * Measures every part below against its floor, its peers and its targets: `npm run bench`. Exits with 1 when a target
 * is missed.
 *
 * The flag of a part leaves out all others; several can be given. `--quick` takes fewer and shorter rounds, `--goals`
 * prints the targets alone, `--json` one JSON value.
 */
import assert from "node:assert/strict"
import { orderInputs, placeOrder, quote, quoteInputs } from "./cases.ts"
import type { QuoteInput } from "./cases.ts"
import type { Contender } from "./contenders/contender.ts"
import { floor } from "./contenders/floor.ts"
import { moleculer } from "./contenders/moleculer.ts"
import { orpc } from "./contenders/orpc.ts"
import { execute, executeWithScopes } from "./contenders/ours.ts"
import { trpc } from "./contenders/trpc.ts"
import { extras } from "./extras.ts"
import {
  firstDocumentGoals,
  firstDocumentTables,
  measureFirstDocuments,
} from "./first-documents.ts"
import { cliGoals, cliTables, measureCLI } from "./cli.ts"
import { consoleGoals, consoleTables } from "./console-report.ts"
import { coreGoals, httpGoals, mcpGoals, openapiGoals, protocolGoals } from "./goals.ts"
import type { CoreResults, Goal } from "./goals.ts"
import { madeByCalls } from "./laziness.ts"
import { loadBuiltImporter, loadBuiltMCP, loadLibrary } from "./library.ts"
import type { Library } from "./library.ts"
import { callLoop, measure, QUICK, THOROUGH } from "./measure.ts"
import type { Effort, Measurement } from "./measure.ts"
import { measureOpenAPI } from "./openapi.ts"
import { busGoals, busTables } from "./bus-report.ts"
import { busFaultGoals, busFaultTables, measureBusFaults } from "./bus-faults.ts"
import { measureBus } from "./run-bus.ts"
import { measureHTTP } from "./run-http.ts"
import { measureMCP } from "./run-mcp.ts"
import { measureProtocol } from "./run-protocol.ts"
import { measurePolicies, policyGoals, policyTables } from "./policy.ts"
import { measurePatterns, patternGoals, patternTables } from "./patterns.ts"
import { callsUntilSettled, rotation, scaling } from "./scaling.ts"
import { measureSizes, sizeGoals, sizeTables } from "./sizes.ts"
import { measureStart, startGoals, startTables } from "./start.ts"
import { measureTypes, typeGoals, typeTables } from "./types.ts"
import {
  coreTables,
  goalsTable,
  httpTables,
  mcpTables,
  openapiTables,
  protocolTables,
} from "./table.ts"

const isQuick = process.argv.includes("--quick")
const effort = isQuick ? QUICK : THOROUGH
const options = { isQuick, log }

log("Building the library")
const library = await loadLibrary()

/** What a part measured, as text, against its targets, and as data. */
interface Report {
  readonly tables: readonly string[]
  readonly goals: readonly Goal[]
  readonly results: object
}

/** One part: its flag, and what measures it. */
interface Part {
  readonly flag: string
  report(): Promise<Report>
}

const PARTS: readonly Part[] = [
  part("--policies", () => measurePolicies(library, effort), policyTables, policyGoals),
  part("--core", () => measureCore(library), coreTables, coreGoals),
  part(
    "--protocol",
    () => measureProtocol(library, effort, options),
    protocolTables,
    protocolGoals,
  ),
  part("--mcp", async () => measureMCP(await loadBuiltMCP(), effort, log), mcpTables, mcpGoals),
  part("--http", () => measureHTTP(library, effort, log), httpTables, httpGoals),
  part("--bus", () => measureBus(effort, options), busTables, busGoals),
  part("--cli", () => measureCLI(options), cliTables, cliGoals),
  part("--start", () => measureStart(options), startTables, startGoals),
  part(
    "--documents",
    () => measureFirstDocuments(options),
    firstDocumentTables,
    firstDocumentGoals,
  ),
  part("--patterns", () => measurePatterns(library, log), patternTables, patternGoals),
  part("--sizes", () => measureSizes(log), sizeTables, sizeGoals),
  part("--types", () => measureTypes(options), typeTables, typeGoals),
  // Late: its documents and its peers leave a heap behind that others should not have to live in.
  part(
    "--openapi",
    async () => measureOpenAPI(await loadBuiltImporter(), options),
    openapiTables,
    openapiGoals,
  ),
  part(
    "--console",
    // Loaded only then: a browser's driver is no part of what else is measured.
    async () => (await import("./console.ts")).measureConsole(options),
    consoleTables,
    consoleGoals,
  ),
]
/** Minutes of killing and freezing, which say nothing of speed: only done when it is asked for. */
const FAULTS = part("--bus-faults", () => measureBusFaults(options), busFaultTables, busFaultGoals)

const asked = [...PARTS, FAULTS].filter(({ flag }) => process.argv.includes(flag))
const isJson = process.argv.includes("--json")
const showsTables = !isJson && !process.argv.includes("--goals")
const reports: Report[] = []
for (const each of asked.length > 0 ? asked : PARTS) {
  const report = await each.report().catch((error: unknown): Report => failedPart(each, error))
  reports.push(report)
  // At once: a run takes long, and may be stopped.
  if (showsTables) for (const table of report.tables) console.log(`${table}\n`)
}

const goals = reports.flatMap((report) => report.goals)
if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1
if (isJson) {
  const { version: node, arch, platform } = process
  const results: object = Object.assign({}, ...reports.map((report) => report.results))
  console.log(JSON.stringify({ node, platform, arch, isQuick, ...results, goals }, null, 2))
} else console.log(goalsTable(goals))

/** A part that could not be measured: its goal is missed, and the other parts are measured all the same. */
function failedPart({ flag }: Part, error: unknown): Report {
  log(error instanceof Error ? String(error.stack) : String(error))
  return {
    tables: [],
    goals: [{ goal: `${flag}: runs`, measured: "failed", isMet: false }],
    results: {},
  }
}

function part<TResults extends object>(
  flag: string,
  take: () => TResults | Promise<TResults>,
  tables: (results: TResults) => string[],
  goalsOf: (results: TResults) => Goal[],
): Part {
  return {
    flag,
    report: async () => {
      const results = await take()
      return { tables: tables(results), goals: goalsOf(results), results }
    },
  }
}

async function measureCore(ours: Library): Promise<CoreResults> {
  // First, while nothing is compiled yet.
  const rotated = rotation(ours)
  log("Calling operations until they are as fast as they get")
  const settledAfter = await callsUntilSettled(
    (count) => rotated[1]?.run(count) ?? Promise.resolve(),
  )
  const compared = await compare(ours, effort)
  log("Measuring the other rows")
  const rows = extras(ours)
  const other = await measure(rows.workloads, effort)
  await rows.close()
  const made = await madeByCalls(ours)
  log("Measuring registries of three sizes")
  const registries = await measure(scaling(ours), effort)
  const turns = await measure(rotated, effort)
  return { ...compared, extras: other, scaling: registries, rotation: turns, settledAfter, made }
}

async function compare(
  ours: Library,
  takes: Effort,
): Promise<{ small: Measurement[]; large: Measurement[] }> {
  const contenders: Contender[] = [
    floor(),
    execute(ours),
    executeWithScopes(ours),
    await moleculer(),
    orpc(),
    trpc(),
  ]
  for (const contender of contenders) await verify(contender)
  const small = contenders.map(({ name, small: call }) => ({
    name: `${name}, small`,
    against: "floor, small",
    run: callLoop(name, call, quoteInputs),
  }))
  const large = contenders.map(({ name, large: call }) => ({
    name: `${name}, large`,
    against: "floor, large",
    run: callLoop(name, call, orderInputs),
  }))
  log("Measuring the contenders")
  // Both sizes in the same rounds: nobody has one kind of operation only.
  const measured = await measure([...small, ...large], takes)
  for (const contender of contenders) await contender.close()
  const plain = (measurement: Measurement): Measurement => ({
    ...measurement,
    name: measurement.name.replace(/, (small|large)$/, ""),
    against: "floor",
  })
  return {
    small: measured.slice(0, small.length).map(plain),
    large: measured.slice(small.length).map(plain),
  }
}

/** A contender that does not do the work has no place in the table. */
async function verify(contender: Contender): Promise<void> {
  for (const input of quoteInputs) {
    const result = contender.data(await contender.small(input))
    assert.deepEqual(result, await quote(input), `${contender.name}, small`)
  }
  for (const input of orderInputs) {
    const result = contender.data(await contender.large(input))
    assert.deepEqual(result, await placeOrder(input), `${contender.name}, large`)
  }
  const [input] = quoteInputs
  await assert.rejects(
    contender.small({ ...(input as QuoteInput), quantity: 0 }),
    `${contender.name} must refuse an invalid input`,
  )
}

function log(text: string): void {
  process.stderr.write(`${text}\n`)
}
