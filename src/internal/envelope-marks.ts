import { arrivals } from "./arrivals.ts"

/**
 * Which envelopes were made by this package, and are not data of the same shape.
 *
 * The mark is a private field of `meta`: it has no key, so that no JSON, spread or clone can carry it, and it costs a
 * fraction of what a WeakSet does.
 */
interface EnvelopeMarks {
  readonly add: (meta: object) => void
  readonly has: (meta: object) => boolean
}

/** A constructor whose object is the one it was given. */
const Given = function (meta: object): object {
  return meta
} as unknown as new (meta: object) => object

class Marked extends Given {
  readonly #isMarked = true

  static has(meta: object): boolean {
    return #isMarked in meta && meta.#isMarked
  }
}

// Registered, so that envelopes of another copy of this package are recognised too.
const KEY: unique symbol = Symbol.for("@alkdev/operations/envelope-marks")
const shared = globalThis as { [KEY]?: EnvelopeMarks }
const marks: EnvelopeMarks = (shared[KEY] ??= {
  add: (meta) => void new Marked(meta),
  has: (meta) => Marked.has(meta),
})

/** Marks the `meta` of an envelope; gives it back. It must be an object that nobody else has marked. */
export function markMeta<TMeta extends object>(meta: TMeta): TMeta {
  marks.add(meta)
  return meta
}

/** Whether a value is the `meta` of an envelope that this package made. */
export function isMarkedMeta(meta: unknown): boolean {
  return typeof meta === "object" && meta !== null && marks.has(meta)
}

// The protocol says that what arrives is an envelope, and not data.
arrivals.mark = ({ meta }) => {
  if (Object.isExtensible(meta) && !marks.has(meta)) marks.add(meta)
}
