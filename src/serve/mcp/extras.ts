import { encodeResult } from "../../core/unread-file.ts"
import { ERROR_CODES, type ErrorCode } from "../../core/errors.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { mintRequestId } from "../../engine/ids.ts"
import { parseExact } from "../../http-client/exact-json.ts"
import { isRecord } from "../../internal/guards.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import type { JsonObject } from "../../mcp/model.ts"
import { upstreamOf } from "../../mcp/upstream.ts"
import { optionsOf } from "../../tools/calls.ts"
import { completionOf, type Completion } from "../../tools/completion.ts"
import { ProtocolError, type SurfaceCall, type SurfaceCaller } from "../../tools/model.ts"
import { dryResult, resultOf } from "../../tools/results.ts"
import type { ToolSurface } from "../../tools/surface.ts"
import { failureOf } from "../../tools/tool-errors.ts"
import { ToolNames } from "../../tools/tool-names.ts"
import type { OperationTool } from "../../tools/tool.ts"
import { readFormInput } from "../query-input.ts"
import { Catalog, type ExtraList } from "./catalog.ts"
import type { CompletionRequest } from "./completion.ts"
import { contentsOf, readyResult } from "./extra-results.ts"
import { INTERNAL_ERROR } from "./messages.ts"

/** `error.code` of a resource that does not exist; newer clients receive `INVALID_PARAMS`. */
export const RESOURCE_NOT_FOUND = -32002

/** The resources and prompts of a registry, for all callers. */
export class Extras {
  readonly #surface: ToolSurface
  readonly #promptNames: ToolNames
  /** Listeners of resources of this process. */
  readonly #watched = new Map<string, Set<() => void>>()
  #catalog: Catalog | undefined
  #version = -1

  constructor(surface: ToolSurface) {
    const { naming, logger } = surface.options
    this.#surface = surface
    this.#promptNames = new ToolNames(naming, logger)
  }

  /** A page of a list. Throws `ProtocolError` for an invalid or outdated cursor. */
  list(list: ExtraList, { identity, era }: SurfaceCaller, cursor: string | undefined): object {
    const { pageSize } = this.#surface.options
    const catalog = this.#current()
    const { items, nextCursor } = catalog.page(list, identity, cursor, pageSize)
    return {
      [list]: items.map(({ definition }) => definition),
      ...(nextCursor !== undefined && { nextCursor }),
      ...this.#caching(catalog, era),
    }
  }

  #caching({ isRestricted }: Catalog, era: SurfaceCaller["era"]): object {
    if (era === "legacy") return {}
    const { ttlMs } = this.#surface.options
    return { ttlMs, cacheScope: isRestricted ? "private" : "public" }
  }

  /** The entry of a skill. Throws a `ProtocolError` for one that the caller does not have. */
  skill(uri: unknown, { identity, era }: SurfaceCaller): object {
    const catalog = this.#current()
    const skill = catalog.skill(String(uri), identity)
    if (skill === undefined) {
      throw new ProtocolError(INVALID_PARAMS, `Unknown skill: ${String(uri).slice(0, 200)}`)
    }
    return { skill, ...this.#caching(catalog, era) }
  }

  /** Reads a resource. Rejects with a `ProtocolError`. */
  async read(uri: string, call: SurfaceCall): Promise<object> {
    const { tool, values } = this.#resource(uri, call)
    const isOwn = tool.origin?.definition === undefined
    const input = isOwn ? textInput(tool, values) : values
    const result = await this.#run(tool, input, call, async (envelope) => {
      const ready = readyResult(envelope, "contents")
      if (ready !== undefined) return ready
      return {
        contents: contentsOf(await this.#blocks(tool, envelope, call), envelope.data, uri, tool),
      }
    })
    return call.era === "modern" ? { ttlMs: 0, cacheScope: "private", ...result } : result
  }

  /** Gets a prompt. Rejects with a `ProtocolError`. */
  async prompt(name: string, args: JsonObject, call: SurfaceCall): Promise<object> {
    const tool = this.#current().prompt(name, call.identity)
    if (tool === undefined) throw unknown("prompt", name)
    const isOwn = tool.origin?.definition === undefined
    return await this.#run(tool, isOwn ? textInput(tool, args) : args, call, async (envelope) => {
      const ready = readyResult(envelope, "messages")
      if (ready !== undefined) return ready
      const { description } = tool.spec
      const { content } = await this.#blocks(tool, envelope, call)
      return { description, messages: content.map((block) => ({ role: "user", content: block })) }
    })
  }

  /** Completes an argument of a prompt or a template. Rejects with a `ProtocolError`. */
  async complete(request: CompletionRequest, call: SurfaceCall): Promise<Completion> {
    const { type, subject } = request
    const catalog = this.#current()
    const tool =
      type === "ref/prompt"
        ? catalog.prompt(subject, call.identity)
        : (catalog.template(subject, call.identity) ??
          catalog.resource(subject, call.identity)?.tool)
    if (tool === undefined) throw unknown(type === "ref/prompt" ? "prompt" : "resource", subject)
    return await this.#guarded(tool, call, async (requestId) => {
      const options = await optionsOf(call, tool.id, requestId, "mcp")
      return await completionOf(this.#surface.registry, tool.spec, request, options)
    })
  }

  /** Calls back when a resource has changed. Throws a `ProtocolError` for one that the caller does not have. */
  watch(uri: string, caller: SurfaceCaller, listener: () => void): () => void {
    const { tool } = this.#resource(uri, caller)
    const stop = upstreamOf(tool.spec)?.watch(uri, listener)
    const listeners = this.#watched.get(uri) ?? new Set()
    this.#watched.set(uri, listeners)
    listeners.add(listener)
    return () => {
      stop?.()
      listeners.delete(listener)
      if (listeners.size === 0 && this.#watched.get(uri) === listeners) this.#watched.delete(uri)
    }
  }

  /** Notifies that a resource has changed. */
  updated(uri: string): void {
    for (const listener of [...(this.#watched.get(uri) ?? [])]) listener()
  }

  #current(): Catalog {
    if (this.#catalog === undefined || this.#version !== this.#surface.version) {
      this.#catalog = new Catalog(this.#surface, this.#promptNames)
      this.#version = this.#surface.version
    }
    return this.#catalog
  }

  #resource(uri: string, { identity }: SurfaceCaller): ReturnType<Catalog["resource"]> & object {
    const found = this.#current().resource(uri, identity)
    if (found !== undefined) return found
    throw unknown("resource", uri)
  }

  /** The result as content blocks. */
  async #blocks(tool: OperationTool, envelope: ResponseEnvelope, call: SurfaceCall) {
    const { options } = this.#surface
    const result =
      call.dryRun === true
        ? dryResult(envelope)
        : await encodeResult(() => resultOf(tool, envelope, call.era, options))
    if (result.isError) throw requestError(result)
    return result
  }

  async #run(
    tool: OperationTool,
    input: unknown,
    call: SurfaceCall,
    convert: (envelope: ResponseEnvelope) => Promise<object>,
  ): Promise<object> {
    return await this.#guarded(tool, call, async (requestId) => {
      const options = await optionsOf(
        call,
        tool.id,
        requestId,
        this.#surface.options.via,
        call.progress,
      )
      const result = await convert(await this.#surface.registry.execute(tool.id, input, options))
      this.#checkSize(tool, result)
      return result
    })
  }

  /** Converts failures to errors of the protocol. */
  async #guarded<TResult>(
    tool: OperationTool,
    { identity }: SurfaceCall,
    work: (requestId: string) => Promise<TResult>,
  ): Promise<TResult> {
    const requestId = mintRequestId()
    try {
      return await work(requestId)
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const call = { requestId, identity, parentRequestId: undefined }
      throw requestError(failureOf(error, tool, "", call, this.#surface.options.failures))
    }
  }

  #checkSize({ id }: OperationTool, result: object): void {
    const { maxResultBytes: most } = this.#surface.options
    const text = JSON.stringify(result)
    // A character takes at most three bytes in UTF-8.
    const bytes = text.length * 3 <= most ? 0 : new TextEncoder().encode(text).length
    if (bytes <= most) return
    const message = `PAYLOAD_TOO_LARGE: The result of "${id}" has ${bytes} bytes, more than the ${most} that are sent.`
    throw new ProtocolError(ERROR_CODES.PAYLOAD_TOO_LARGE.jsonRpc, message)
  }
}

/** Texts as the input of an operation, by its schema. */
function textInput({ spec }: OperationTool, texts: JsonObject): unknown {
  const lists = Object.entries(texts).map(
    ([name, text]) => [name, [text].flat() as string[]] as const,
  )
  return readFormInput(new Map(lists), spec.inputSchema as never, parseExact)
}

/** The error for what does not exist, or may not be seen. */
function unknown(what: "prompt" | "resource", name: string): ProtocolError {
  const text = name.slice(0, 200)
  if (what === "prompt") return new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${text}`)
  return new ProtocolError(RESOURCE_NOT_FOUND, `Resource not found: ${text}`, { uri: text })
}

/** The error of a request, as what would have been the text of a tool that failed. */
function requestError({ content, _meta }: Awaited<ReturnType<typeof failureOf>>): ProtocolError {
  const message = content.map(({ text }) => String(text)).join("\n")
  const data = _meta?.["alkdev.operations/error"]
  const code = isRecord(data) ? (data["code"] as ErrorCode) : "EXECUTION_ERROR"
  const { jsonRpc = INTERNAL_ERROR } = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code] : {}
  return new ProtocolError(jsonRpc, message, data)
}
