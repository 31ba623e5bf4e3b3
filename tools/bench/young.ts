import { cpuOf } from "./measure.ts"

type Collect = (options: { readonly type: "minor" }) => void

// Never read, but kept reachable.
const shelf: { kept: unknown } = { kept: undefined }

/** Empties the young generation. Unlike a full collection it leaves optimized code alone. */
export function collectYoung(): void {
  const gc = globalThis.gc as Collect | undefined
  if (gc === undefined) throw new TypeError("Run it with --expose-gc: node --expose-gc …")
  gc({ type: "minor" })
}

/**
 * The CPU time of making something that is kept.
 *
 * It begins with nothing young and ends when what was made has outlived a collection. Otherwise a result
 * that is dropped at once costs nothing to keep, and who is next pays for collecting it.
 */
export async function timeKept(make: () => unknown): Promise<number> {
  shelf.kept = undefined
  collectYoung()
  return await cpuOf(async () => {
    shelf.kept = await make()
    collectYoung()
  })
}
