import { sha256Hex } from "../../internal/sha256.ts"
import type { OperationSpec } from "../../core/types.ts"

/** An operation to be named, with the original name of an imported tool. */
export interface Nameable {
  readonly id: string
  readonly spec: OperationSpec
  /** The name of an imported tool on its server. */
  readonly rawName: string | undefined
}

export type Naming = "underscore" | "dots" | ((spec: OperationSpec) => string)

/** Mapping between ids and names of tools. */
export interface ToolNames {
  nameOf(id: string): string | undefined
  idOf(name: string): string | undefined
}

/** Names of the search tools; no operation gets one. */
export const RESERVED_NAMES = ["search_operations", "describe_operation", "call_operation"] as const

const MAX_LENGTH = 64
const MAX_OWN_LENGTH = 128

/**
 * Assigns a legal and unique name to every operation, independent of their order.
 *
 * Several rounds: first the raw name of an imported tool, then `namespace_name`, then the same with a
 * hash of the id. Operations that share a name go on to the next round; if only some of them hold a raw
 * name, only those do. So a name changes only when another operation wants the very same one.
 */
export function assignNames(entries: readonly Nameable[], naming: Naming): ToolNames {
  const reserved = new Set<string>(RESERVED_NAMES)
  const held = new Map<string, Nameable[]>()
  let waiting = entries.map((entry) => ({ entry, round: firstRound(entry, naming) }))
  const rounds = new Map<string, number>(waiting.map(({ entry, round }) => [entry.id, round]))
  while (waiting.length > 0) {
    for (const { entry, round } of waiting) {
      const name = nameIn(round, entry, naming)
      const holders = held.get(name)
      if (holders === undefined) held.set(name, [entry])
      else holders.push(entry)
    }
    waiting = []
    for (const [name, holders] of held) {
      if (holders.length === 1 && !reserved.has(name)) continue
      const raw = holders.filter(({ id }) => rounds.get(id) === 0)
      const leaving = raw.length > 0 ? raw : holders
      const staying = holders.filter((holder) => !leaving.includes(holder))
      if (staying.length === 0) held.delete(name)
      else held.set(name, staying)
      for (const entry of leaving) {
        const round = (rounds.get(entry.id) ?? 0) + 1
        rounds.set(entry.id, round)
        waiting.push({ entry, round })
      }
    }
  }
  const ids = new Map<string, string>()
  const names = new Map<string, string>()
  for (const [name, [entry]] of held) {
    if (entry === undefined) continue
    ids.set(name, entry.id)
    names.set(entry.id, name)
  }
  return { nameOf: (id) => names.get(id), idOf: (name) => ids.get(name) }
}

/** Whether clients accept a name with this naming. */
export function isLegalName(name: string, naming: Naming): boolean {
  if (naming === "underscore") return /^[A-Za-z0-9_-]{1,64}$/.test(name)
  return naming === "dots"
    ? /^[A-Za-z0-9_.-]{1,64}$/.test(name)
    : /^[A-Za-z0-9_.-]{1,128}$/.test(name)
}

/** An imported tool keeps its name if it is legal; names of a naming function take precedence. */
function firstRound({ rawName }: Nameable, naming: Naming): number {
  if (rawName === undefined || typeof naming === "function") return 1
  return isLegalName(rawName, naming) ? 0 : 1
}

function nameIn(round: number, entry: Nameable, naming: Naming): string {
  if (round === 0 && entry.rawName !== undefined) return entry.rawName
  const wanted = typeof naming === "function" ? naming(entry.spec) : entry.id
  const legal = wanted.replaceAll(naming === "underscore" ? /[^\w-]/g : /[^\w.-]/g, "_")
  const most = typeof naming === "function" ? MAX_OWN_LENGTH : MAX_LENGTH
  if (round === 1 && legal !== "" && legal.length <= most) return legal
  // More digits in each round, in case two ids share the first six.
  const hash = sha256Hex(entry.id).slice(0, Math.min(Math.max(round - 1, 1) * 6, 48))
  return `${legal.slice(0, most - hash.length - 1)}_${hash}`
}
