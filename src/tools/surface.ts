import { setRef } from "../internal/defer.ts"
import { cutText } from "../internal/message-text.ts"
import { lazyPartsOf } from "../core/lazy-operation.ts"
import { withoutHiddenText } from "../mcp/hidden-text.ts"
import type { MCPToolDefinition } from "../mcp/model.ts"
import type { CallWay, Identity } from "../core/types.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { runOperation } from "./calls.ts"
import { READ_RESULT } from "./fit-result.ts"
import { Listing, invalidCursor } from "./listing.ts"
import type {
  SurfaceCall,
  SurfaceCaller,
  SurfaceCost,
  SurfaceMode,
  SurfacePage,
  SurfaceResult,
  ToolCost,
} from "./model.ts"
import { ProtocolError } from "./model.ts"
import { resolveSurfaceOptions } from "./options.ts"
import type { ResolvedSurfaceOptions, SurfaceOptions } from "./options.ts"
import { SEARCH_FIRST, SEARCH_TOOLS, callSearchTool, searchTool } from "./search-tools.ts"
import type { OperationTool } from "./tool.ts"
import { ToolNames } from "./tool-names.ts"
import { Listeners } from "../internal/listeners.ts"
import { addToList } from "../internal/lists.ts"

/** Changes within this time are announced once, in milliseconds. */
const QUIET_MS = 20
const MAX_LINTED = 10
const MAX_NAMESPACES = 50
/** Characters of the instructions of one imported server, and of all. */
const MAX_INSTRUCTIONS = 500
const MAX_ALL_INSTRUCTIONS = 4000
/** An estimate. */
const BYTES_PER_TOKEN = 4

/** A registry as MCP tools, for all callers and protocols. Close it when done; the registry stays open. */
export class ToolSurface {
  /** Changes with the registry; equal versions mean equal lists. */
  version = 0
  readonly #registry: AnyRegistry
  readonly #options: ResolvedSurfaceOptions
  readonly #names: ToolNames
  readonly #listeners = new Listeners()
  readonly #stop: () => void
  #listing: Listing | undefined
  /** The listing of the previous version, for reuse of unchanged tools. */
  #previous: Listing | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isLinted = false

  /** `kind` is the surface in reports of failed calls. */
  constructor(registry: AnyRegistry, options: SurfaceOptions = {}, kind: CallWay = "mcp") {
    this.#registry = registry
    this.#options = resolveSurfaceOptions(options, kind)
    this.#names = new ToolNames(this.#options.naming, this.#options.logger)
    this.#stop = registry.onChange(({ type, spec }) => {
      // The replaced operation may have been exposed.
      if (type === "replaced" || this.#options.isExposed(spec)) this.#changed()
    })
  }

  /** Throws `ProtocolError` for an invalid or outdated cursor. */
  list(caller: SurfaceCaller, cursor: string | undefined): SurfacePage {
    const { mode, ttlMs, pageSize, kept } = this.#options
    const listing = this.#current()
    const cacheScope = listing.isRestricted && mode !== "search" ? "private" : "public"
    const visible = listing.visibleTo(caller.identity)
    if (this.#modeFor(visible.length) === "search") {
      if (cursor !== undefined) throw invalidCursor()
      return { tools: SEARCH_TOOLS, ttlMs, cacheScope }
    }
    const { tools, nextCursor } = listing.page(visible, cursor, pageSize, caller.era)
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
        registry: this.#registry,
        listing,
        options: this.#options,
      })
    }
    // Also in search mode: a client may have an older list with fewer operations.
    const tool = listing.named(name, call.identity)
    // The same for a tool that the caller may not use.
    if (tool === undefined)
      return Promise.reject(new ProtocolError(-32602, `Unknown tool: ${name.slice(0, 200)}`))
    const { kept } = this.#options
    const wasEmpty = kept.isEmpty
    const result = runOperation(this.#registry, tool, input, call, this.#options)
    if (!wasEmpty) return result
    return result.finally(() => {
      // The list has one tool more.
      if (!kept.isEmpty) this.announce()
    })
  }

  /** Notifies when lists have changed, once for changes in quick succession. */
  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Notifies that lists have changed. */
  announce(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const { logger } = this.#options
      this.#listeners.notifyLogged(undefined, logger, "A listener for changed tools threw")
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
    const isSearched = this.mode(identity) === "search"
    const parts = [isSearched ? SEARCH_FIRST : undefined, own, this.#imported(identity)]
    return parts.filter(Boolean).join("\n\n") || undefined
  }

  /** What trusted servers say about their tools, by namespace. */
  #imported(identity: Identity | undefined): string {
    const said = new Map<string, string>()
    for (const { spec } of this.#current().visibleTo(identity)) {
      if (said.has(spec.namespace)) continue
      const text = withoutHiddenText(lazyPartsOf(spec)?.instructions ?? "").replace(/\s+/g, " ")
      if (text.trim() !== "") said.set(spec.namespace, cutText(text.trim(), MAX_INSTRUCTIONS))
    }
    const lines = Array.from(said, ([namespace, text]) => `${namespace}: ${text}`)
    return cutText(lines.join("\n"), MAX_ALL_INSTRUCTIONS)
  }

  /** Why a tool is not strict; empty if it is, `undefined` for search tools and in other profiles. */
  looseness(name: string, caller: SurfaceCaller): readonly string[] | undefined {
    return this.#current().named(name, caller.identity)?.strict?.reasons
  }

  close(): void {
    this.#stop()
    clearTimeout(this.#timer)
    this.#options.kept.clear()
    this.#listeners.clear()
  }

  #current(): Listing {
    if (this.#listing === undefined) {
      this.#listing = new Listing(
        this.#registry,
        this.version,
        this.#options,
        this.#names,
        this.#previous,
      )
      this.#previous = undefined
    }
    return this.#listing
  }

  #modeFor(count: number): SurfaceMode {
    const { mode, threshold } = this.#options
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
    const { isPortable, logger } = this.#options
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

/** The bytes of a definition as JSON. */
function bytesOf(definition: MCPToolDefinition): number {
  return new TextEncoder().encode(JSON.stringify(definition)).length
}

/** The size of a list of definitions, and an estimate of their tokens. */
function costOf(sizes: readonly number[]): ToolCost {
  const brackets = 2 + Math.max(sizes.length - 1, 0)
  const bytes = sizes.reduce((sum, size) => sum + size, brackets)
  return { tools: sizes.length, bytes, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) }
}
