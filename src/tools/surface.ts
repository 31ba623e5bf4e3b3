import { setRef } from "../internal/defer.ts"
import type { MCPToolDefinition } from "../mcp/model.ts"
import type { CallWay, Identity } from "../core/types.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { runOperation } from "./calls.ts"
import { bytesOf, costOf } from "./cost.ts"
import { READ_RESULT } from "./fit-result.ts"
import { importedInstructions } from "./instructions.ts"
import { Listing, invalidCursor } from "./listing.ts"
import type {
  SurfaceCall,
  SurfaceCaller,
  SurfaceCost,
  SurfaceMode,
  SurfacePage,
  SurfaceResult,
} from "./model.ts"
import { ProtocolError } from "./model.ts"
import { resolveSurfaceOptions } from "./options.ts"
import type { ResolvedSurfaceOptions, SurfaceOptions } from "./options.ts"
import { SEARCH_FIRST, SEARCH_TOOLS, callSearchTool, searchTool } from "./search-tools.ts"
import type { OperationTool, ServedKind } from "./tool.ts"
import { ToolNames } from "./tool-names.ts"
import { Listeners } from "../internal/listeners.ts"
import { addToList } from "../internal/lists.ts"

/** Changes within this time are announced once, in milliseconds. */
const QUIET_MS = 20
const MAX_LINTED = 10
const MAX_NAMESPACES = 50

/** A registry as MCP tools, for all callers and protocols. Close it when done; the registry stays open. */
export class ToolSurface {
  /** Changes with the registry; equal versions mean equal lists. */
  version = 0
  readonly registry: AnyRegistry
  readonly options: ResolvedSurfaceOptions
  readonly #names: ToolNames
  readonly #listeners = new Listeners<ReadonlySet<ServedKind>>()
  /** The operations that listeners know of; `undefined` while there are no listeners. */
  #announced: readonly OperationTool[] | undefined
  readonly #stop: () => void
  #listing: Listing | undefined
  /** The listing of the previous version, for reuse of unchanged tools. */
  #previous: Listing | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isLinted = false

  /** `kind` is the surface in reports of failed calls. */
  constructor(registry: AnyRegistry, options: SurfaceOptions = {}, kind: CallWay = "mcp") {
    this.registry = registry
    this.options = resolveSurfaceOptions(options, kind)
    this.#names = new ToolNames(this.options.naming, this.options.logger)
    this.#stop = registry.onChange(({ type, spec }) => {
      // The replaced operation may have been exposed.
      if (type === "replaced" || this.options.isExposed(spec)) this.#changed()
    })
  }

  /** Throws `ProtocolError` for an invalid or outdated cursor. */
  list(caller: SurfaceCaller, cursor: string | undefined): SurfacePage {
    const { mode, ttlMs, pageSize, kept } = this.options
    const listing = this.#current()
    const cacheScope = listing.isRestricted && mode !== "search" ? "private" : "public"
    const visible = listing.visibleTo(caller.identity)
    if (this.#modeFor(visible.length) === "search") {
      if (cursor !== undefined) throw invalidCursor()
      return { tools: SEARCH_TOOLS, ttlMs, cacheScope }
    }
    const { items: tools, nextCursor } = listing.page(visible, cursor, pageSize, caller.era)
    this.#lint(tools)
    const defined = tools.map((tool) => listing.define(tool, caller.era))
    // Listed once there is something to read.
    const isLast = nextCursor === undefined && !kept.isEmpty
    return {
      tools: isLast ? [...defined, READ_RESULT] : defined,
      ...(nextCursor !== undefined && { nextCursor }),
      ttlMs,
      cacheScope,
    }
  }

  /** The tools of all pages. */
  listAll(caller: SurfaceCaller): MCPToolDefinition[] {
    const tools: MCPToolDefinition[] = []
    let cursor: string | undefined
    do {
      const page = this.list(caller, cursor)
      tools.push(...page.tools)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return tools
  }

  /** One tool, for checking headers against it; `undefined` when the caller has no such tool. */
  find(name: string, caller: SurfaceCaller): MCPToolDefinition | undefined {
    const listing = this.#current()
    const definition = this.#searchToolFor(name, caller)
    if (definition !== undefined) return definition
    const tool = listing.named(name, caller.identity)
    return tool === undefined ? undefined : listing.define(tool, caller.era)
  }

  /** Throws `ProtocolError` for protocol errors; all other failures are results. */
  call(name: string, input: unknown, call: SurfaceCall): Promise<SurfaceResult> {
    const listing = this.#current()
    if (this.#searchToolFor(name, call) !== undefined) {
      return callSearchTool(name, input, call, {
        registry: this.registry,
        listing,
        options: this.options,
      })
    }
    // Also in search mode: a client may have an older list with fewer operations.
    const tool = listing.named(name, call.identity)
    // The same for a tool that the caller may not use.
    if (tool === undefined)
      return Promise.reject(new ProtocolError(-32602, `Unknown tool: ${name.slice(0, 200)}`))
    const { kept } = this.options
    const wasEmpty = kept.isEmpty
    const result = runOperation(this.registry, tool, input, call, this.options)
    if (!wasEmpty) return result
    return result.finally(() => {
      // The list has one tool more.
      if (!kept.isEmpty) this.announce()
    })
  }

  /** Every operation that is served, as a tool or otherwise, sorted by id. */
  get all(): readonly OperationTool[] {
    return this.#current().tools
  }

  /** The name of an operation as a tool. */
  nameOf(tool: OperationTool): string {
    return this.#current().nameOf(tool)
  }

  /** Notifies which lists have changed, once for changes in quick succession. */
  onChange(listener: (kinds: ReadonlySet<ServedKind>) => void): () => void {
    this.#announced ??= this.all
    const stop = this.#listeners.add(listener)
    return () => {
      stop()
      if (this.#listeners.size === 0) this.#announced = undefined
    }
  }

  /** Notifies that lists have changed. */
  announce(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const { logger } = this.options
      if (this.#announced === undefined) return
      const kinds = changedKinds(this.#announced, this.all)
      this.#announced = this.all
      this.#listeners.notifyLogged(kinds, logger, "A listener for changed lists threw")
    }, QUIET_MS)
    setRef(this.#timer, false)
  }

  /** Whether a caller sees every operation as a tool, or the search tools. */
  mode(identity: Identity | undefined): SurfaceMode {
    return this.#modeFor(this.#current().visibleTo(identity).length)
  }

  /** Size of the list of tools in the context of a caller's model; `all`: with every tool, whoever may use it. */
  cost(
    identity: Identity | "all" | undefined,
    partOf: (tool: OperationTool) => string = ({ spec }) => spec.namespace,
  ): SurfaceCost {
    const listing = this.#current()
    const tools = identity === "all" ? listing.tools : listing.visibleTo(identity)
    const sizes = new Map<string, number[]>()
    // One by one: a large registry would be a very large text.
    for (const tool of tools)
      addToList(sizes, partOf(tool), bytesOf(listing.define(tool, "modern")))
    const parts = Array.from(sizes, ([name, of]) => ({ name, ...costOf(of) }))
    return {
      mode: this.#modeFor(tools.length),
      all: costOf([...sizes.values()].flat()),
      search: costOf(SEARCH_TOOLS.map(bytesOf)),
      parts: parts.toSorted((left, right) => right.bytes - left.bytes),
    }
  }

  /** The namespaces that a caller may use, with their numbers of operations, in words. */
  namespaces(identity: Identity | undefined): string | undefined {
    const counts = new Map<string, number>()
    for (const { spec } of this.#current().visibleTo(identity)) {
      counts.set(spec.namespace, (counts.get(spec.namespace) ?? 0) + 1)
    }
    if (counts.size === 0) return undefined
    const all = Array.from(counts, ([namespace, count]) => `${namespace} (${count})`).toSorted()
    const rest = all.splice(MAX_NAMESPACES).length
    return `Operations by namespace: ${[...all, ...(rest > 0 ? [`${rest} more`] : [])].join(", ")}.`
  }

  /** How to use the tools, for a model. */
  instructions(
    identity: Identity | undefined,
    own: string | undefined = this.namespaces(identity),
  ): string | undefined {
    const visible = this.#current().visibleTo(identity)
    const isSearched = this.#modeFor(visible.length) === "search"
    const parts = [isSearched ? SEARCH_FIRST : undefined, own, importedInstructions(visible)]
    return parts.filter(Boolean).join("\n\n") || undefined
  }

  /** Why a tool is not strict; empty if it is, `undefined` for search tools and in other profiles. */
  looseness(name: string, caller: SurfaceCaller): readonly string[] | undefined {
    return this.#current().named(name, caller.identity)?.strict?.reasons
  }

  close(): void {
    this.#stop()
    clearTimeout(this.#timer)
    this.options.kept.clear()
    this.#listeners.clear()
  }

  #current(): Listing {
    if (this.#listing === undefined) {
      this.#listing = new Listing(
        this.registry,
        this.version,
        this.options,
        this.#names,
        this.#previous,
      )
      this.#previous = undefined
    }
    return this.#listing
  }

  #modeFor(count: number): SurfaceMode {
    const { mode, threshold } = this.options
    if (mode !== "auto") return mode
    return count > threshold ? "search" : "all"
  }

  #searchToolFor(name: string, caller: SurfaceCaller): MCPToolDefinition | undefined {
    const tool = searchTool(name)
    const isServed = tool === READ_RESULT || this.mode(caller.identity) === "search"
    return isServed ? tool : undefined
  }

  /** Logs once which schemas known clients refuse, or which were rewritten for them. */
  #lint(tools: readonly OperationTool[]): void {
    if (this.#isLinted) return
    const { isPortable, logger } = this.options
    const linted = tools.flatMap(({ id, lint }) =>
      lint.length > 0 ? [{ tool: id, reasons: lint }] : [],
    )
    if (linted.length === 0) return
    this.#isLinted = true
    const fields = { count: linted.length, tools: linted.slice(0, MAX_LINTED) }
    if (isPortable) logger.debug("Input schemas of some tools were rewritten", fields)
    else {
      logger.warn(
        `Some clients refuse the input schemas of some tools; schemaProfile: "portable" rewrites them`,
        fields,
      )
    }
  }

  #changed(): void {
    this.version++
    this.#previous = this.#listing ?? this.#previous
    this.#listing = undefined
    this.announce()
  }
}

/** Which lists differ; that of tools if none does: something that clients see has changed. */
function changedKinds(
  before: readonly OperationTool[],
  after: readonly OperationTool[],
): ReadonlySet<ServedKind> {
  const [old, now] = [new Set(before), new Set(after)]
  const changed = [
    ...before.filter((tool) => !now.has(tool)),
    ...after.filter((tool) => !old.has(tool)),
  ]
  return new Set(changed.length === 0 ? ["tool"] : changed.map(({ kind }) => kind))
}
