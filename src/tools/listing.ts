import { allows } from "../core/access.ts"
import type { MCPEra, MCPToolDefinition } from "../mcp/model.ts"
import { sha256Hex } from "../internal/sha256.ts"
import { sameData } from "../internal/same-data.ts"
import type { ServedRegistry } from "../engine/served-registry.ts"
import type { Identity } from "../core/types.ts"
import { ProtocolError } from "./model.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import { OperationTool } from "./tool.ts"
import type { ToolNames } from "./tool-names.ts"

/** Maximum characters of a page; clients accept messages of about ten million bytes. */
const MAX_PAGE = 2 * 1024 * 1024

/** The tools of one version of a registry. */
export class Listing {
  /** Sorted by id. */
  readonly tools: readonly OperationTool[]
  /** Without those that approvals always deny, and those that clients use as resources and prompts. */
  readonly #listed: readonly OperationTool[]
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
    registry: ServedRegistry,
    version: number,
    options: ResolvedSurfaceOptions,
    names: ToolNames,
    before: Listing | undefined,
  ) {
    const tools: OperationTool[] = []
    for (const { namespace, name, handler } of registry.list()) {
      const id = `${namespace}.${name}`
      const spec = handler === undefined ? undefined : registry.getSpec(id)
      if (spec === undefined || !options.isExposed(spec)) continue
      const previous = before === undefined ? undefined : before.#byId.get(id)
      const outlook = registry.outlook?.(id, { via: options.via })
      const { isDenied = false, mayAsk = false } = outlook ?? {}
      const isSame =
        previous?.spec === spec && previous.isDenied === isDenied && previous.mayAsk === mayAsk
      tools.push(isSame ? previous : new OperationTool(id, spec, options, { isDenied, mayAsk }))
    }
    this.tools = tools.toSorted((left, right) => (left.id < right.id ? -1 : 1))
    this.#listed = this.tools.filter(
      ({ isDenied, kind }) => !isDenied && (kind === "tool" || !options.hasKinds),
    )
    this.isRestricted = tools.some(({ requirement }) => requirement !== undefined)
    this.#byId = new Map(tools.map((tool) => [tool.id, tool]))
    names.assign(this.tools.map(({ id, spec, raw }) => ({ id, spec, rawName: raw?.name })))
    this.#names = names
    const { mode, threshold } = options
    // Searched operations are called by their ids.
    const isListed = mode === "all" || (mode === "auto" && this.#listed.length <= threshold)
    for (const tool of this.tools) tool.successor = this.#successorOf(tool, isListed)
    const lines = this.tools.map(
      ({ id, spec }) => `${id} ${this.#names.nameOf(id)} ${spec.version}`,
    )
    this.#fingerprint = sha256Hex([version, ...lines].join("\n")).slice(0, 16)
  }

  /** Tools that a caller may see, including those that only some inputs may call. */
  visibleTo(identity: Identity | undefined): readonly OperationTool[] {
    if (!this.isRestricted) return this.#listed
    return this.#listed.filter(({ requirement }) => allows(requirement, identity, undefined))
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
      const name = this.nameOf(tool)
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
  ): Page<OperationTool> {
    return pageOf(tools, this.#fingerprint, cursor, most, (tool) => tool.size(era))
  }

  nameOf({ id }: OperationTool): string {
    return this.#names.nameOf(id) ?? id
  }

  /** What replaces a deprecated tool, if all callers of that may see it. */
  #successorOf({ spec, requirement }: OperationTool, isListed: boolean): string {
    const id = spec.deprecation?.replacedBy ?? ""
    const next = this.#byId.get(id)?.requirement
    const isSeen = this.#byId.has(id) && (next === undefined || sameData(next, requirement))
    return isSeen ? ((isListed ? this.#names.nameOf(id) : id) ?? id) : ""
  }
}

/** A part of a list. */
export interface Page<TItem> {
  readonly items: readonly TItem[]
  readonly nextCursor: string | undefined
}

/**
 * A page of a list, which is sorted by id, and the next cursor. Throws `ProtocolError` for a cursor of another list,
 * which has another fingerprint.
 */
export function pageOf<TItem extends { readonly id: string }>(
  all: readonly TItem[],
  fingerprint: string,
  cursor: string | undefined,
  most: number,
  sizeOf: (item: TItem) => number,
): Page<TItem> {
  const after = cursor === undefined ? undefined : readCursor(cursor, fingerprint)
  // By id, not by offset: the visible items can change between two pages.
  const first = after === undefined ? 0 : all.findIndex(({ id }) => id > after)
  const start = first < 0 ? all.length : first
  let end = start
  for (let size = 0; end < all.length && end - start < most; end++) {
    const item = all[end]
    size += item === undefined ? 0 : sizeOf(item)
    if (size > MAX_PAGE && end > start) break
  }
  const items = all.slice(start, end)
  const last = items.at(-1)
  const hasMore = end < all.length && last !== undefined
  return { items, nextCursor: hasMore ? `${fingerprint}.${last.id}` : undefined }
}

function readCursor(cursor: string, fingerprint: string): string {
  const dot = typeof cursor === "string" ? cursor.indexOf(".") : -1
  if (dot > 0 && cursor.slice(0, dot) === fingerprint) return cursor.slice(dot + 1)
  throw invalidCursor()
}

/** Whether a name identifies its operation, so that no title is needed. */
function identifiesOperation(name: string, { id, raw }: OperationTool): boolean {
  return name === raw?.name || name === id || name === id.replaceAll(/[^\w-]/g, "_")
}

/** The error for a cursor that is invalid or outdated. */
export function invalidCursor(): ProtocolError {
  return new ProtocolError(
    -32602,
    "Invalid cursor: the list has changed, or the cursor is from elsewhere. List again from the start.",
  )
}
