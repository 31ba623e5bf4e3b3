import { escapeToken } from "../json.ts"

/** Maximum number of listed changes; further ones are applied but not listed. */
const MAX_CHANGES = 100

/** Maximum depth of changes that cause further changes. */
const MAX_NESTING = 8

/**
 * Collects changes while data is walked.
 *
 * A change starts with the path below the place that noted it; each level puts its own key in front on
 * the way out. Data that needs nothing builds no path.
 */
export class Report {
  readonly #changes: { kind: NormalizeKind; path: string }[] = []

  #nesting = 0

  /** Number of keys removed so far, listed or not. */
  strips = 0

  /** The number of changes so far, for `prefixSince` and `revertTo`. */
  get position(): number {
    return this.#changes.length
  }

  get changes(): readonly NormalizeChange[] {
    return this.#changes
  }

  note(kind: NormalizeKind, key?: string): void {
    if (kind === "strip") this.strips++
    if (this.#changes.length < MAX_CHANGES) {
      this.#changes.push({ kind, path: key === undefined ? "" : `/${escapeToken(key)}` })
    }
  }

  /** Prefixes the paths of all changes since `position` with a key. */
  prefixSince(position: number, key: string | number): void {
    if (this.#changes.length === position) return
    const prefix = typeof key === "number" ? `/${key}` : `/${escapeToken(key)}`
    for (let index = position; index < this.#changes.length; index++) {
      const change = this.#changes[index]!
      change.path = prefix + change.path
    }
  }

  /**
   * Runs work that an earlier change has caused.
   *
   * Throws if it nests too deeply: such a schema would fill in defaults without end.
   */
  nested<T>(work: () => T): T {
    if (this.#nesting === MAX_NESTING)
      throw new RangeError("Defaults cause each other without end.")
    this.#nesting++
    const result = work()
    this.#nesting--
    return result
  }

  /** Drops the changes since `position`. */
  revertTo(position: number): void {
    this.#changes.length = position
  }
}

/** The kind of a change. */
export type NormalizeKind = "strip" | "default" | "convert"

/** One change, and its place. */
export interface NormalizeChange {
  readonly kind: NormalizeKind
  /** A JSON pointer into the value. */
  readonly path: string
}
