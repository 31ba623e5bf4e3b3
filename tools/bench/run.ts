/**
 * Measures every part below against its floor, its peers and its targets: `npm run bench`. Exits with 1 when a target
 * is missed.
 *
 * Flags select parts; with several flags, each part runs in a separate process. `--quick` runs fewer and
 * shorter rounds, `--goals` prints only the targets, `--json` one JSON value; `--page` draws the charts of
 * `docs/benchmarks.md` again.
 */
import assert from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { agentGoals, agentTables } from "./agents-report.ts"
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
import { aroundGoals, aroundTables, measureAround } from "./around.ts"
import {
  buildLibrary,
  loadBuilt,
  loadBuiltAround,
  loadBuiltImporter,
  loadBuiltMCP,
} from "./library.ts"
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
import { drawCharts } from "./page.ts"
import { measurePolicies, policyGoals, policyTables } from "./policy.ts"
import { measurePatterns, patternGoals, patternTables } from "./patterns.ts"
import { rotation, scaling } from "./scaling.ts"
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

/** What a part measured, against its targets and as data. */
interface Outcome {
  readonly goals: readonly Goal[]
  readonly results: object
}

/** The same with its text. */
interface Report extends Outcome {
  readonly tables: readonly string[]
}

/** One part: its flag, and what measures it. */
interface Part {
  readonly flag: string
  report(): Promise<Report>
}

const PARTS: readonly Part[] = [
  part(
    "--policies",
    async () => measurePolicies(await loadBuilt(), effort),
    policyTables,
    policyGoals,
  ),
  part(
    "--around",
    async () => measureAround(await loadBuiltAround(), effort),
    aroundTables,
    aroundGoals,
  ),
  part("--core", async () => measureCore(await loadBuilt()), coreTables, coreGoals),
  part(
    "--protocol",
    async () => measureProtocol(await loadBuilt(), effort, options),
    protocolTables,
    protocolGoals,
  ),
  part("--mcp", async () => measureMCP(await loadBuiltMCP(), effort, log), mcpTables, mcpGoals),
  part("--http", async () => measureHTTP(await loadBuilt(), effort, log), httpTables, httpGoals),
  part("--bus", () => measureBus(effort, options), busTables, busGoals),
  part("--cli", () => measureCLI(options), cliTables, cliGoals),
  part("--start", () => measureStart(options), startTables, startGoals),
  part(
    "--documents",
    () => measureFirstDocuments(options),
    firstDocumentTables,
    firstDocumentGoals,
  ),
  part(
    "--patterns",
    async () => measurePatterns(await loadBuilt(), log),
    patternTables,
    patternGoals,
  ),
  part("--sizes", () => measureSizes(log), sizeTables, sizeGoals),
  part("--types", () => measureTypes(options), typeTables, typeGoals),
  part(
    "--openapi",
    async () => measureOpenAPI(await loadBuiltImporter(), options),
    openapiTables,
    openapiGoals,
  ),
  part(
    "--console",
    // Loaded on demand, so that the browser driver does not affect other measurements.
    async () => (await import("./console.ts")).measureConsole(options),
    consoleTables,
    consoleGoals,
  ),
]
/** These take minutes and do not measure speed: they run only if selected. */
const SELECTED_PARTS: readonly Part[] = [
  part("--bus-faults", () => measureBusFaults(options), busFaultTables, busFaultGoals),
  part(
    "--agents",
    // Loaded on demand, so that its libraries do not affect other measurements.
    async () => (await import("./agents.ts")).measureAgents(log),
    agentTables,
    agentGoals,
  ),
]

const asked = [...PARTS, ...SELECTED_PARTS].filter(({ flag }) => process.argv.includes(flag))
const parts = asked.length > 0 ? asked : PARTS
const isJson = process.argv.includes("--json")
const showsTables = !isJson && !process.argv.includes("--goals")
if (process.send === undefined) {
  log("Building the library")
  buildLibrary()
}
const outcomes: Outcome[] = []
for (const each of parts) {
  outcomes.push(parts.length === 1 ? await inThisProcess(each) : await inItsOwnProcess(each))
}

const goals = outcomes.flatMap((outcome) => outcome.goals)
const results: object = Object.assign({}, ...outcomes.map((outcome) => outcome.results))
if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1
if (process.send === undefined && process.argv.includes("--page")) drawCharts(results)
if (process.send !== undefined) process.send({ goals, results } satisfies Outcome)
else if (isJson) {
  const { version: node, arch, platform } = process
  console.log(JSON.stringify({ node, platform, arch, isQuick, ...results, goals }, null, 2))
} else console.log(goalsTable(goals))

/** Measures a part, and prints its tables at once: a run takes long, and may be stopped. */
async function inThisProcess(each: Part): Promise<Outcome> {
  try {
    const { tables, ...outcome } = await each.report()
    if (showsTables) for (const table of tables) console.log(`${table}\n`)
    return outcome
  } catch (error) {
    log(error instanceof Error ? String(error.stack) : String(error))
    return failed(each)
  }
}

/** Measures a part in a process in which no other part left its heap and its compiled code. */
async function inItsOwnProcess(each: Part): Promise<Outcome> {
  const others = process.argv.slice(2).filter((arg) => !parts.some(({ flag }) => flag === arg))
  const child = fork(import.meta.filename, [each.flag, ...others])
  let outcome = failed(each)
  child.on("message", (message) => (outcome = message as Outcome))
  await once(child, "exit")
  return outcome
}

/** A part that could not be measured: its goal is missed, and the other parts are still measured. */
function failed({ flag }: Part): Outcome {
  return { goals: [{ goal: `${flag}: runs`, measured: "failed", isMet: false }], results: {} }
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
      const taken = await take()
      return { tables: tables(taken), goals: goalsOf(taken), results: taken }
    },
  }
}

async function measureCore(ours: Library): Promise<CoreResults> {
  const compared = await compare(ours, effort)
  log("Measuring the other rows")
  const rows = extras(ours)
  const other = await measure(rows.workloads, effort)
  await rows.close()
  const made = await madeByCalls(ours)
  log("Measuring registries of three sizes")
  const registries = await measure(scaling(ours), effort)
  const turns = await measure(rotation(ours), effort)
  return { ...compared, extras: other, scaling: registries, rotation: turns, made }
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
  // Both sizes in the same rounds, because applications have operations of both kinds.
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

/** Throws if a contender does not do the work. */
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
