import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ImportedOperations } from "../../src/from-openapi.ts"
import { inChild, readResult } from "./children.ts"
import { importers, quietly } from "./contenders/openapi.ts"
import type { Imported, Importer } from "./contenders/openapi.ts"
import { DOCUMENTS, loadDocument } from "./documents.ts"
import type { BenchDocument, DocumentName } from "./documents.ts"
import type { ImportLibrary } from "./library.ts"
import { spreadOf } from "./measure.ts"
import { reachOf } from "./openapi-call.ts"
import { buildPackage } from "./npm.ts"
import { measureCircular, measureCold } from "./openapi-cold.ts"
import type { ColdDocument, ColdResults } from "./openapi-cold.ts"
import type { CallReach } from "./openapi-call.ts"
import type { HeapShares } from "./openapi-heap.ts"
import { importLanes, ROWS } from "./openapi-rows.ts"
import type { RowName } from "./openapi-rows.ts"
import { timeLanes } from "./rounds.ts"
import type { Lane, Rounds, Timing } from "./rounds.ts"
import { timeKept } from "./young.ts"

/** One row of a document. */
export interface ImportTiming extends Timing {
  readonly row: RowName
  /** The first run in a fresh process, as a multiple of the first `JSON.parse` in another. */
  readonly first: number
}

/** One importer on one document: its cost and result, or why it has none. */
export type ImporterResult =
  | (Timing & Imported)
  | { readonly name: string; readonly failure: string }

/** The results for one document. */
export interface DocumentResults {
  readonly document: DocumentName
  readonly source: BenchDocument["source"]
  readonly characters: number
  readonly operations: number
  readonly rows: readonly ImportTiming[]
  readonly call: CallReach
  readonly heap: HeapShares
  readonly importers: readonly ImporterResult[]
}

/** The results for the import of documents. */
export interface OpenAPIResults extends ColdResults {
  readonly openapi: readonly DocumentResults[]
}

interface OpenAPIEffort {
  readonly ours: Rounds
  /** With the peers, which take many times what ours takes. */
  readonly compared: Rounds
  /** Fresh processes for each row. */
  readonly children: number
}

const THOROUGH: OpenAPIEffort = {
  ours: { floor: 1000, minRounds: 11, maxRounds: 31, warmUps: 4, budget: 120 },
  compared: { floor: 300, minRounds: 5, maxRounds: 11, warmUps: 2, budget: 15 },
  children: 5,
}
const QUICK: OpenAPIEffort = {
  ours: { floor: 300, minRounds: 5, maxRounds: 11, warmUps: 4, budget: 60 },
  compared: { floor: 100, minRounds: 3, maxRounds: 5, warmUps: 2, budget: 5 },
  children: 1,
}

const PEER_SECONDS = 20
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

/** Measures the import of real documents, one after the other. */
export async function measureOpenAPI(
  library: ImportLibrary,
  { isQuick, log }: { readonly isQuick: boolean; readonly log: (text: string) => void },
): Promise<OpenAPIResults> {
  const effort = isQuick ? QUICK : THOROUGH
  log("Building the package")
  buildPackage()
  const folder = await mkdtemp(join(tmpdir(), "operations-bench-"))
  const openapi: DocumentResults[] = []
  const cold: ColdDocument[] = []
  try {
    for (const name of DOCUMENTS) {
      log(`Importing ${name}`)
      const document = await loadDocument(name)
      // Fresh processes read this: unpacking would warm them up.
      const file = join(folder, `${DOCUMENTS.indexOf(name)}.json`)
      await writeFile(file, document.text)
      cold.push(measureCold(name, file))
      openapi.push(await measureDocument(library, document, file, effort))
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  log("Compiling the types of circular schemas")
  return { openapi, cold, circularSeconds: await measureCircular() }
}

async function measureDocument(
  library: ImportLibrary,
  { name, text, source }: BenchDocument,
  file: string,
  effort: OpenAPIEffort,
): Promise<DocumentResults> {
  const { operations, call } = verify(library, name, text)
  const lanes = importLanes(library, name, text)
  const timings = await timeLanes(Object.values(lanes), effort.ours)
  const firsts = firstRuns(name, file, effort.children)
  const rows = (Object.keys(ROWS) as RowName[]).map((row, index) => ({
    ...(timings[index] as Timing),
    row,
    first: firsts[row] / firsts.parse,
  }))
  return {
    document: name,
    source,
    characters: text.length,
    operations,
    rows,
    call,
    heap: readResult(inChild<HeapShares>(["weigh", file]), `Weighing ${name}`),
    importers: await compare(library, lanes.parse, text, file, effort.compared),
  }
}

/** Throws if an import misses operations or an example does not match. */
function verify(
  library: ImportLibrary,
  name: DocumentName,
  text: string,
): { operations: number; call: CallReach } {
  const operations = library.FromOpenAPI(text, { namespace: "api" })
  const wanted = operationsIn(JSON.parse(text) as Paths)
  const found = placesOf(operations)
  for (const place of wanted) assert.ok(found.has(place), `${name}: ${place} must be imported`)
  return { operations: wanted.length, call: reachOf(library, name, operations) }
}

interface Paths {
  readonly paths: Readonly<Record<string, object>>
}

function operationsIn({ paths }: Paths): string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

function placesOf(operations: ImportedOperations): Set<string> {
  const places = operations.map(({ _meta }) => _meta?.["openapi"] as Place)
  return new Set(places.map(({ method, path }) => `${method} ${path}`))
}

interface Place {
  readonly method: string
  readonly path: string
}

/** The median of some fresh processes for each row, one process at a time. */
function firstRuns(name: DocumentName, file: string, children: number): Record<RowName, number> {
  const median = (row: RowName): number => {
    const times = Array.from({ length: children }, () =>
      readResult(inChild<number>(["first", row, name, file]), `${ROWS[row]} of ${name}`),
    )
    return spreadOf(times).median
  }
  return {
    parse: median("parse"),
    list: median("list"),
    schemas: median("schemas"),
    definitions: median("definitions"),
    call: median("call"),
  }
}

/** Ours and the peers in the same rounds. */
async function compare(
  library: ImportLibrary,
  floor: Lane,
  text: string,
  file: string,
  effort: Rounds,
): Promise<ImporterResult[]> {
  const lanes: Lane[] = [floor]
  const tried: ((Imported & { name: string }) | { name: string; failure: string })[] = []
  for (const importer of importers(library)) {
    const outcome = await tryOut(importer, text, file)
    tried.push({ name: importer.name, ...outcome })
    if ("failure" in outcome) continue
    const read = await importer.load()
    lanes.push({ name: importer.name, time: () => quietly(() => timeKept(() => read(text))) })
  }
  const timings = await timeLanes(lanes, effort)
  return tried.map((outcome) => {
    if ("failure" in outcome) return outcome
    return { ...outcome, ...(timings.find(({ name }) => name === outcome.name) as Timing) }
  })
}

/** A peer runs in a separate process first: on some documents it throws, or does not end. */
async function tryOut(
  importer: Importer,
  text: string,
  file: string,
): Promise<Imported | { readonly failure: string }> {
  if (importer.isOurs) {
    const read = await importer.load()
    const { operations, outputs } = await read(text)
    return { operations, outputs }
  }
  const result = inChild<Imported | { readonly failure: string }>(
    ["try", importer.name, file],
    PEER_SECONDS,
  )
  return "failure" in result ? result : result.value
}
