import { allows } from "../../core/access.ts"
import type { MCPEra, MCPToolDefinition } from "../../mcp/model.ts"
import { sha256Hex } from "../../internal/sha256.ts"
import { sameData } from "../../internal/same-data.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import type { Identity, OperationSpec } from "../../core/types.ts"
import { ProtocolError } from "./model.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import { OperationTool } from "./tool.ts"

/** Maximum characters of a page; clients accept messages of about ten million bytes. */
const MAX_PAGE = 2 * 1024 * 1024

/** The tools of one version of a registry. */
export class Listing {
  /** Sorted by id. */
  readonly tools: readonly OperationTool[]
  /** The visible tools depend on the caller. */
  readonly isRestricted: boolean
  readonly #byId: ReadonlyMap<string, OperationTool>
  readonly #names: ToolNames
  readonly #fingerprint: string
  readonly #defined = {
    legacy: new Map<OperationTool, MCPToolDefinition>(),
    modern: new Map<OperationTool, MCPToolDefinition>(),
  }

  constructor(
    registry: AnyRegistry,
    version: number,
    options: ResolvedSurfaceOptions,
    before: Listing | undefined,
  ) {
    const tools: OperationTool[] = []
    for (const { namespace, name, handler } of registry.list()) {
      const id = `${namespace}.${name}`
      const spec = handler === undefined ? undefined : registry.getSpec(id)
      if (spec === undefined || !options.isExposed(spec)) continue
      const previous = before === undefined ? undefined : before.#byId.get(id)
      tools.push(previous?.spec === spec ? previous : new OperationTool(id, spec, options))
    }
    this.tools = tools.toSorted((left, right) => (left.id < right.id ? -1 : 1))
    this.isRestricted = tools.some(({ requirement }) => requirement !== undefined)
    this.#byId = new Map(tools.map((tool) => [tool.id, tool]))
    this.#names = assignNames(
      this.tools.map(({ id, spec, raw }) => ({ id, spec, rawName: raw?.name })),
      guardedNaming(options),
    )
    const { mode, threshold } = options
    // Searched operations are called by their ids.
    const isListed = mode === "all" || (mode === "auto" && tools.length <= threshold)
    for (const tool of this.tools) tool.successor = this.#successorOf(tool, isListed)
    const lines = this.tools.map(
      ({ id, spec }) => `${id} ${this.#names.nameOf(id)} ${spec.version}`,
    )
    this.#fingerprint = sha256Hex([version, ...lines].join("\n")).slice(0, 16)
  }

  /** Tools that a caller may see, including those that only some inputs may call. */
  visibleTo(identity: Identity | undefined): readonly OperationTool[] {
    if (!this.isRestricted) return this.tools
    return this.tools.filter(({ requirement }) => allows(requirement, identity, undefined))
  }

  /** An operation by the name of its tool. */
  named(name: string, identity: Identity | undefined): OperationTool | undefined {
    const id = this.#names.idOf(name)
    return id === undefined ? undefined : this.withId(id, identity)
  }

  withId(id: string, identity: Identity | undefined): OperationTool | undefined {
    const tool = this.#byId.get(id)
    return tool !== undefined && allows(tool.requirement, identity, undefined) ? tool : undefined
  }

  define(tool: OperationTool, era: MCPEra): MCPToolDefinition {
    let defined = this.#defined[era].get(tool)
    if (defined === undefined) {
      const name = this.#names.nameOf(tool.id) ?? tool.id
      const definition = tool.definition(era)
      defined =
        definition.title !== undefined || identifiesOperation(name, tool)
          ? { name, ...definition }
          : { name, title: tool.raw?.name ?? tool.id, ...definition }
      this.#defined[era].set(tool, defined)
    }
    return defined
  }

  /** A page of a list and the next cursor. Throws `ProtocolError` for a cursor of another list. */
  page(
    tools: readonly OperationTool[],
    cursor: string | undefined,
    most: number,
    era: MCPEra,
  ): { readonly tools: readonly OperationTool[]; readonly nextCursor: string | undefined } {
    const after = cursor === undefined ? undefined : this.#readCursor(cursor)
    // By id, not by offset: the visible tools can change between two pages.
    const first = after === undefined ? 0 : tools.findIndex(({ id }) => id > after)
    const start = first < 0 ? tools.length : first
    let end = start
    for (let size = 0; end < tools.length && end - start < most; end++) {
      size += tools[end]?.size(era) ?? 0
      if (size > MAX_PAGE && end > start) break
    }
    const page = tools.slice(start, end)
    const last = page.at(-1)
    const hasMore = end < tools.length && last !== undefined
    return { tools: page, nextCursor: hasMore ? `${this.#fingerprint}.${last.id}` : undefined }
  }

  /** What replaces a deprecated tool, if all callers of that may see it. */
  #successorOf({ spec, requirement }: OperationTool, isListed: boolean): string {
    const id = spec.deprecation?.replacedBy ?? ""
    const next = this.#byId.get(id)?.requirement
    const isSeen = this.#byId.has(id) && (next === undefined || sameData(next, requirement))
    return isSeen ? ((isListed ? this.#names.nameOf(id) : id) ?? id) : ""
  }

  #readCursor(cursor: string): string {
    const dot = typeof cursor === "string" ? cursor.indexOf(".") : -1
    if (dot > 0 && cursor.slice(0, dot) === this.#fingerprint) return cursor.slice(dot + 1)
    throw invalidCursor()
  }
}

/** Whether a name identifies its operation, so that no title is needed. */
function identifiesOperation(name: string, { id, raw }: OperationTool): boolean {
  return name === raw?.name || name === id || name === id.replaceAll(/[^\w-]/g, "_")
}

/** The error for a cursor that is invalid or outdated. */
export function invalidCursor(): ProtocolError {
  return new ProtocolError(
    -32602,
    "Invalid cursor: the list has changed, or the cursor is from elsewhere. List the tools again from the start.",
  )
}

/** Catches errors of a user's naming function: a failure for one operation must not hide the others. */
function guardedNaming({ naming, logger }: ResolvedSurfaceOptions): Naming {
  if (typeof naming !== "function") return naming
  return (spec) => {
    const id = `${spec.namespace}.${spec.name}`
    try {
      const name: unknown = naming(spec)
      if (typeof name === "string" && name !== "") return name
      logger.error("naming gave no name for an operation; its id is used", { id })
    } catch (error) {
      logger.error("naming threw for an operation; its id is used", { id, error })
    }
    return id
  }
}

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
