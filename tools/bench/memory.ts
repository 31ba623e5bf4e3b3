/** The memory that a stream retains which is long enough to show leaks. */

/** The memory that a long stream retained. */
export interface Flatness {
  readonly name: string
  readonly items: number
  /** The maximum growth of the heap and its buffers, after the first tenth of the stream. */
  readonly grownBytes: number
}

/** Reads a stream and measures the heap ten times, after a collection. */
export async function flatness(
  name: string,
  items: number,
  open: (count: number) => AsyncIterable<unknown>,
): Promise<Flatness> {
  const weights: number[] = []
  let seen = 0
  for await (const _item of open(items)) {
    if (++seen % Math.floor(items / 10) > 0) continue
    weights.push(weighHeap())
  }
  if (seen !== items) throw new Error(`"${name}" gave ${seen} items of ${items}.`)
  const [first = Number.NaN, ...rest] = weights
  return { name, items, grownBytes: Math.max(0, ...rest.map((weight) => weight - first)) }
}

function weighHeap(): number {
  const { gc } = globalThis
  if (gc === undefined) throw new TypeError("Run it with --expose-gc: node --expose-gc …")
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
