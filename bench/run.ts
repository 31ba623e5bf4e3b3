/**
 * Measures `execute`, the call protocol, MCP, HTTP, calls over brokers, the import of OpenAPI documents, the start
 * of the command line, what users download, what types cost compilers and the console's first paint, against their
 * floors, peers and targets: `npm run bench`. Exits with 1 when a target is missed.
 *
 * `--quick` takes fewer and shorter rounds, `--protocol`, `--mcp`, `--http`, `--bus`, `--openapi`, `--documents`, `--cli`,
 * `--patterns`, `--sizes`, `--types` and `--console` leave out everything else, `--json` prints one JSON value. `--bus-faults` is only done when it is asked for.
 */
import assert from "node:assert/strict"
import { orderInputs, placeOrder, Quote, quote, QuoteInput, quoteInputs } from "./cases.ts"
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
import type { CoreResults } from "./goals.ts"
import { countMade } from "./laziness.ts"
import type { Made } from "./laziness.ts"
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
import { measurePatterns, patternGoals, patternTables } from "./patterns.ts"
import { scaling } from "./scaling.ts"
import { measureSizes, sizeGoals, sizeTables } from "./sizes.ts"
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

log("Building the library")
const library = await loadLibrary()
const PARTS = [
  "--protocol",
  "--mcp",
  "--http",
  "--bus",
  "--openapi",
  "--documents",
  "--cli",
  "--patterns",
  "--sizes",
  "--types",
  "--console",
]
const only = [...PARTS, "--bus-faults"].filter((part) => process.argv.includes(part))
const isWanted = (part: string): boolean => only.length === 0 || only.includes(part)
const core = only.length === 0 ? await measureCore(library) : undefined
const protocol = isWanted("--protocol")
  ? await measureProtocol(library, effort, { isQuick, log })
  : undefined
const mcp = isWanted("--mcp") ? await measureMCP(await loadBuiltMCP(), effort, log) : undefined
const http = isWanted("--http") ? await measureHTTP(library, effort, log) : undefined
const bus = isWanted("--bus") ? await measureBus(effort, { isQuick, log }) : undefined
// Minutes of killing and freezing, which say nothing of speed.
const busFaults = only.includes("--bus-faults")
  ? await measureBusFaults({ isQuick, log })
  : undefined
const cli = isWanted("--cli") ? measureCLI({ isQuick, log }) : undefined
const documents = isWanted("--documents")
  ? await measureFirstDocuments({ isQuick, log })
  : undefined
const patterns = isWanted("--patterns") ? measurePatterns(library, log) : undefined
const sizes = isWanted("--sizes") ? await measureSizes(log) : undefined
const types = isWanted("--types") ? await measureTypes({ isQuick, log }) : undefined
// Last: its documents and its peers leave a heap behind that others should not have to live in.
const openapi = isWanted("--openapi")
  ? await measureOpenAPI(await loadBuiltImporter(), { isQuick, log })
  : undefined
// Loaded only then: a browser's driver is no part of what else is measured.
const page = isWanted("--console")
  ? await (await import("./console.ts")).measureConsole({ isQuick, log })
  : undefined
const goals = [
  ...(core === undefined ? [] : coreGoals(core)),
  ...(protocol === undefined ? [] : protocolGoals(protocol)),
  ...(mcp === undefined ? [] : mcpGoals(mcp)),
  ...(http === undefined ? [] : httpGoals(http)),
  ...(bus === undefined ? [] : busGoals(bus)),
  ...(busFaults === undefined ? [] : busFaultGoals(busFaults)),
  ...(openapi === undefined ? [] : openapiGoals(openapi)),
  ...(documents === undefined ? [] : firstDocumentGoals(documents)),
  ...(cli === undefined ? [] : cliGoals(cli)),
  ...(patterns === undefined ? [] : patternGoals(patterns)),
  ...(sizes === undefined ? [] : sizeGoals(sizes)),
  ...(types === undefined ? [] : typeGoals(types)),
  ...(page === undefined ? [] : consoleGoals(page)),
]
if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1
if (process.argv.includes("--json")) {
  const { version: node, arch, platform } = process
  const parts = {
    ...core,
    ...protocol,
    ...mcp,
    ...http,
    ...bus,
    ...busFaults,
    ...openapi,
    ...documents,
    ...cli,
    ...patterns,
    ...sizes,
    ...types,
    ...page,
  }
  const results = { node, platform, arch, isQuick, ...parts, goals }
  console.log(JSON.stringify(results, null, 2))
} else {
  const tables = [
    ...(core === undefined ? [] : coreTables(core)),
    ...(protocol === undefined ? [] : protocolTables(protocol)),
    ...(mcp === undefined ? [] : mcpTables(mcp)),
    ...(http === undefined ? [] : httpTables(http)),
    ...(bus === undefined ? [] : busTables(bus)),
    ...(busFaults === undefined ? [] : busFaultTables(busFaults)),
    ...(openapi === undefined ? [] : openapiTables(openapi)),
    ...(documents === undefined ? [] : firstDocumentTables(documents)),
    ...(cli === undefined ? [] : cliTables(cli)),
    ...(patterns === undefined ? [] : patternTables(patterns)),
    ...(sizes === undefined ? [] : sizeTables(sizes)),
    ...(types === undefined ? [] : typeTables(types)),
    ...(page === undefined ? [] : consoleTables(page)),
  ]
  console.log([...tables, goalsTable(goals)].join("\n\n"))
}

async function measureCore(ours: Library): Promise<CoreResults> {
  const compared = await compare(ours, effort)
  log("Measuring the other rows")
  const rows = extras(ours)
  const other = await measure(rows.workloads, effort)
  await rows.close()
  const made = await makes(ours)
  log("Measuring registries of three sizes")
  const registries = await measure(scaling(ours), effort)
  return { ...compared, extras: other, scaling: registries, made }
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

async function makes({ createRegistry, defineOperation }: Library): Promise<Made> {
  const base = {
    namespace: "shop",
    type: "query",
    description: "",
    inputSchema: QuoteInput,
    accessControl: { requiredScopes: [] },
  } as const
  await using registry = createRegistry([
    defineOperation({ ...base, name: "quote", outputSchema: Quote, handler: quote }),
    defineOperation({
      ...base,
      name: "id",
      outputSchema: {},
      handler: (_input, { requestId }) => requestId,
    }),
  ])
  const first = quoteInputs[0] as QuoteInput
  const loop = callLoop("made", (input) => registry.execute("shop.quote", input), quoteInputs)
  return await countMade(
    () => loop(10_000),
    async () => {
      const { data } = await registry.execute("shop.id", first)
      return Number.parseInt(String(data).split("-").at(-1) ?? "", 36)
    },
  )
}

function log(text: string): void {
  process.stderr.write(`${text}\n`)
}
