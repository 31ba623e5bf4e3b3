/** A stream so long that whatever it kept of its items would show. */

/** What a long stream held on to. */
export interface Flatness {
  readonly name: string
  readonly items: number
  /** How much the heap and its buffers grew at most, from a tenth of the stream on. */
  readonly grownBytes: number
}

/** Reads a stream and weighs the heap, collected, ten times on the way. */
export async function flatness(
  name: string,
  items: number,
  open: (count: number) => AsyncIterable<unknown>,
): Promise<Flatness> {
  const { gc } = globalThis
  if (gc === undefined) throw new TypeError("Run it with --expose-gc: node --expose-gc …")
  const weights: number[] = []
  let seen = 0
  for await (const _item of open(items)) {
    if (++seen % Math.floor(items / 10) > 0) continue
    gc()
    const { heapUsed, external } = process.memoryUsage()
    weights.push(heapUsed + external)
  }
  if (seen !== items) throw new Error(`"${name}" gave ${seen} items of ${items}.`)
  const [first = Number.NaN, ...rest] = weights
  return { name, items, grownBytes: Math.max(0, ...rest.map((weight) => weight - first)) }
}
