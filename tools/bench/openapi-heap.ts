import type { ImportLibrary } from "./library.ts"
import { spreadOf } from "./measure.ts"
import { importTo, readDefinitions, readSchemas } from "./openapi-rows.ts"

/** The memory of an import, relative to that of the parsed document. */
export interface HeapShares {
  readonly parsedBytes: number
  /** Added by the operations alone. */
  readonly list: number
  /** Added by these and every input and output schema. */
  readonly schemas: number
  /** Added by all that and the definitions of each schema. */
  readonly definitions: number
}

const WEIGHINGS = 5

/**
 * Measures the heap after a collection, with a parsed document and with an imported one: medians of several
 * runs.
 *
 * An import has parsed the document as well and keeps it, so what it adds is the difference.
 */
export function weigh(library: ImportLibrary, text: string): HeapShares {
  // Compiled code and type feedback stay in memory, so they must exist before the first measurement.
  for (let times = 0; times < 2; times++) importTo(library, text, "definitions")
  const weighings = Array.from({ length: WEIGHINGS }, () => [
    ...held(() => JSON.parse(text) as object),
    ...held(() => importTo(library, text, "list"), readSchemas, readDefinitions),
  ])
  const median = (index: number): number =>
    spreadOf(weighings.map((bytes) => bytes[index] ?? Number.NaN)).median
  const parsedBytes = median(0)
  const share = (index: number): number => (median(index) - parsedBytes) / parsedBytes
  return { parsedBytes, list: share(1), schemas: share(2), definitions: share(3) }
}

/** How much the heap grew by a value, and with each step that makes more of it. */
function held<TValue extends object>(
  make: () => TValue,
  ...steps: readonly ((value: TValue) => unknown)[]
): number[] {
  const before = collected()
  const value = make()
  const bytes = [collected() - before]
  for (const step of steps) {
    step(value)
    bytes.push(collected() - before)
  }
  // Used after the last weighing, so that it was there at each.
  if (Object.keys(value).length === 0) throw new TypeError("Nothing was made.")
  return bytes
}

function collected(): number {
  const { gc } = globalThis
  if (gc === undefined) throw new TypeError("Run it with --expose-gc: node --expose-gc …")
  // The first collection runs finalizers, the second one frees their memory.
  gc()
  gc()
  return process.memoryUsage().heapUsed
}
