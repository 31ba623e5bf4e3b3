import { escapeToken } from "../json.ts"

/** How many changes are named; the rest are made all the same. */
const CAP = 100

/** How deep changes may bring about changes. */
const NESTING = 8

/**
 * Collects changes while data is walked.
 *
 * A change starts with the path below the place that noted it; each level puts its own key in front on
 * the way out. Data that needs nothing builds no path.
 */
export class Report {
  readonly #changes: { kind: NormalizeKind; path: string }[] = []

  #nesting = 0

  /** How many keys were removed so far, named or not. */
  strips = 0

  /** How much was noted so far; a place to go `back` to. */
  get mark(): number {
    return this.#changes.length
  }

  get changes(): readonly NormalizeChange[] {
    return this.#changes
  }

  note(kind: NormalizeKind, key?: string): void {
    if (kind === "strip") this.strips++
    if (this.#changes.length < CAP) {
      this.#changes.push({ kind, path: key === undefined ? "" : `/${escapeToken(key)}` })
    }
  }

  /** Puts a key in front of everything noted since `mark`. */
  under(mark: number, key: string | number): void {
    if (this.#changes.length === mark) return
    const prefix = typeof key === "number" ? `/${key}` : `/${escapeToken(key)}`
    for (let index = mark; index < this.#changes.length; index++) {
      const change = this.#changes[index]!
      change.path = prefix + change.path
    }
  }

  /**
   * Does what an earlier change has brought about.
   *
   * Throws when that goes on level by level: such a schema would fill defaults without end.
   */
  nested<T>(work: () => T): T {
    if (this.#nesting === NESTING) throw new RangeError("Defaults bring about each other.")
    this.#nesting++
    const result = work()
    this.#nesting--
    return result
  }

  /** Forgets what was noted since `mark`. */
  back(mark: number): void {
    this.#changes.length = mark
  }
}

/** What can be done to a value. */
export type NormalizeKind = "strip" | "default" | "convert"

/** One thing that was done, and where. */
export interface NormalizeChange {
  readonly kind: NormalizeKind
  /** A JSON pointer into the value. */
  readonly path: string
}
