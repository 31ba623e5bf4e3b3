import type { OperationSpec } from "../core/types.ts"
import { addToList } from "../internal/lists.ts"
import { sha256Hex } from "../internal/sha256.ts"
import type { Logger } from "../internal/logger.ts"

/** An operation to be named, with the original name of an imported tool. */
export interface Nameable {
  readonly id: string
  readonly spec: OperationSpec
  /** The name of an imported tool on its server. */
  readonly rawName: string | undefined
}

export type Naming = "underscore" | "dots" | "raw" | ((spec: OperationSpec) => string)

/** Names of the tools that every server may have; no operation gets one. */
export const RESERVED_NAMES = [
  "search_operations",
  "describe_operation",
  "call_operation",
  "read_result",
] as const

const MAX_LENGTH = 64
const MAX_OWN_LENGTH = 128
/** Names of operations that are gone. With more of them, new names end in a long hash, which needs no memory. */
const MAX_RETIRED = 50_000
/** The round whose names end in so many digits that no two ids share them. */
const LONG_HASH = 5

/**
 * The names of tools, for as long as a server lives.
 *
 * People allow tools by name. So a name that an operation had, or that several wanted at once, is never given to
 * another operation, and an operation keeps its name whatever is added after it. The name is `namespace_name`; where
 * that is not free, a hash of the id follows.
 */
export class ToolNames {
  readonly #naming: Naming
  readonly #logger: Logger
  /** The operation of each name; `undefined` for names that no operation gets. */
  readonly #ids = new Map<string, string | undefined>(
    RESERVED_NAMES.map((name) => [name, undefined]),
  )
  readonly #names = new Map<string, string>()
  /** The one source whose tools keep the names that they have on their server; empty if there are several. */
  #rawNamespace: string | undefined
  #isWarned = false

  constructor(naming: Naming, logger: Logger) {
    this.#naming = naming
    this.#logger = logger
  }

  /** Number of names, those of operations that are gone included. */
  get size(): number {
    return this.#names.size
  }

  nameOf(id: string): string | undefined {
    return this.#names.get(id)
  }

  idOf(name: string): string | undefined {
    return this.#ids.get(name)
  }

  /** Names the operations that have no name yet; their order does not matter. */
  assign(entries: readonly Nameable[]): void {
    const fresh = entries.filter(({ id }) => !this.#names.has(id))
    if (fresh.length === 0) return
    const retired = this.#names.size + fresh.length - entries.length
    if (retired > MAX_RETIRED) this.#forget(entries)
    const isRaw = this.#rawOnes(entries)
    const round = retired > MAX_RETIRED ? LONG_HASH : 1
    const own = fresh.filter((entry) => !isRaw(entry))
    this.#give(own, round)
    this.#give(fresh.filter(isRaw), 0)
  }

  /** Gives each operation the name of the first round in which it alone wants it, and it is free. */
  #give(entries: readonly Nameable[], first: number): void {
    let waiting = entries
    for (let round = first; waiting.length > 0; round++) {
      const wanted = new Map<string, Nameable[]>()
      for (const entry of waiting) addToList(wanted, this.#nameIn(round, entry), entry)
      const next: Nameable[] = []
      for (const [name, holders] of wanted) {
        const [{ id } = { id: "" }] = holders
        const isFree = !this.#ids.has(name)
        if (isFree) this.#ids.set(name, holders.length === 1 ? id : undefined)
        if (isFree && holders.length === 1) this.#names.set(id, name)
        else next.push(...holders)
      }
      waiting = next
    }
  }

  /** Forgets names with long hashes whose operations are gone: no other operation gets one. */
  #forget(entries: readonly Nameable[]): void {
    const present = new Set(entries.map(({ id }) => id))
    for (const [id, name] of this.#names) {
      if (present.has(id) || !name.endsWith(hashOf(id, LONG_HASH))) continue
      this.#names.delete(id)
      this.#ids.delete(name)
    }
  }

  /** With `raw`, tools of the only imported server keep the names that they have there. */
  #rawOnes(entries: readonly Nameable[]): (entry: Nameable) => boolean {
    if (this.#naming !== "raw") return () => false
    const spaces = new Set(
      entries.flatMap(({ rawName, spec }) => (rawName === undefined ? [] : [spec.namespace])),
    )
    const [first, ...others] = spaces
    this.#rawNamespace ??= others.length > 0 ? "" : first
    if (others.length > 0 && !this.#isWarned) {
      this.#isWarned = true
      const kept = this.#rawNamespace || "no source"
      this.#logger.warn(
        `naming: "raw" is for one source. Tools of ${kept} keep their names, those of others are called namespace_name`,
        { namespaces: [...spaces].slice(0, 10) },
      )
    }
    return ({ rawName, spec }) =>
      spec.namespace === this.#rawNamespace &&
      rawName !== undefined &&
      isLegalName(rawName, "underscore")
  }

  #nameIn(round: number, { id, spec, rawName }: Nameable): string {
    if (round === 0 && rawName !== undefined) return rawName
    const naming = this.#naming
    const isOwn = typeof naming === "function"
    const wanted = isOwn ? this.#ask(naming, id, spec) : id
    const legal = wanted.replaceAll(isOwn || naming === "dots" ? /[^\w.-]/g : /[^\w-]/g, "_")
    const most = isOwn ? MAX_OWN_LENGTH : MAX_LENGTH
    if (round <= 1 && legal !== "" && legal.length <= most) return legal
    const hash = hashOf(id, round)
    return `${legal.slice(0, most - hash.length - 1)}_${hash}`
  }

  /** Catches errors of a user's naming function: a failure for one operation must not hide the others. */
  #ask(naming: (spec: OperationSpec) => string, id: string, spec: OperationSpec): string {
    try {
      const name: unknown = naming(spec)
      if (typeof name === "string" && name !== "") return name
      this.#logger.error("naming gave no name for an operation; its id is used", { id })
    } catch (error) {
      this.#logger.error("naming threw for an operation; its id is used", { id, error })
    }
    return id
  }
}

/** Whether clients accept a name with this naming. */
export function isLegalName(name: string, naming: Naming): boolean {
  if (typeof naming === "function") return /^[A-Za-z0-9_.-]{1,128}$/.test(name)
  return naming === "dots"
    ? /^[A-Za-z0-9_.-]{1,64}$/.test(name)
    : /^[A-Za-z0-9_-]{1,64}$/.test(name)
}

/** More digits in each round, in case two ids share the first six. */
function hashOf(id: string, round: number): string {
  return sha256Hex(id).slice(0, Math.min(Math.max(round - 1, 1) * 6, 48))
}
