import { CallError } from "./errors.ts"
import { reading } from "../internal/brands.ts"
import { systemClock, wallTimeOf } from "../internal/clock.ts"

/** The sources of results; a closed set, by which envelopes are recognized. */
export const RESPONSE_SOURCES = ["local", "http", "mcp"] as const

export type ResponseSource = (typeof RESPONSE_SOURCES)[number]

/** What the policies of an operation did for a result; absent if they did nothing. */
export interface PolicyResponseMeta {
  /** The result comes from a cache: its age in milliseconds, and whether it was fresh. */
  readonly cache?: { readonly age: number; readonly state: "fresh" | "stale" } | undefined
  /** The call failed, and this is the result of its fallback. */
  readonly fallback?: true | undefined
  /** The outcome of an earlier call with the same idempotency key. */
  readonly replayed?: true | undefined
  /** How many attempts it took, if more than one. */
  readonly attempts?: number | undefined
}

/** A result of a function in this process. */
export interface LocalResponseMeta extends PolicyResponseMeta {
  readonly source: "local"
  readonly operationId: string
  /** Epoch milliseconds at which the result was wrapped. */
  readonly timestamp: number
}

/** A result of an HTTP request. */
export interface HTTPResponseMeta extends PolicyResponseMeta {
  readonly source: "http"
  readonly statusCode: number
  /** Lower-case names; several values of one name joined with `, `. */
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
  /** The other fields of a server-sent event, for an item of an event stream. */
  readonly event?: HTTPStreamEvent | undefined
}

/** The fields of a server-sent event besides its data. */
export interface HTTPStreamEvent {
  readonly name?: string | undefined
  readonly id?: string | undefined
  /** Milliseconds to wait before connecting again. */
  readonly retry?: number | undefined
}

/** A result of an MCP tool. */
export interface MCPResponseMeta extends PolicyResponseMeta {
  readonly source: "mcp"
  /** The tool ran and reports a failure; `unwrapOrThrow` turns it into an error. */
  readonly isError: boolean
  /** All content blocks, whatever `data` is. */
  readonly content: MCPContentBlock[]
  /** The raw structured result, as the server sent it: any JSON value. */
  readonly structuredContent?: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
  /** The namespace of the server, and the tool as the server calls it. */
  readonly server?: string
  readonly tool?: string
  /** The name and version that the server reports. */
  readonly serverInfo?: { readonly name: string; readonly version: string }
  readonly protocolVersion?: string
  readonly era?: "legacy" | "modern"
  readonly durationMs?: number
  /**
   * `data` was parsed from the only text: the tool declares an output schema and sent no structured result,
   * and the text matches.
   */
  readonly structuredFrom?: "text"
  /** Blocks of unknown types, as received; `content` has text in their place. */
  readonly unknownBlocks?: readonly unknown[]
}

export type ResponseMeta = LocalResponseMeta | HTTPResponseMeta | MCPResponseMeta

/** A result of any source: the data, and metadata about where it came from. */
export interface ResponseEnvelope<TData = unknown> {
  readonly data: TData
  readonly meta: ResponseMeta
}

export interface MCPAnnotations {
  readonly audience?: ("user" | "assistant")[]
  readonly priority?: number
  readonly lastModified?: string
}

export interface MCPIcon {
  readonly src: string
  readonly mimeType?: string
  readonly sizes?: readonly string[]
  readonly theme?: "light" | "dark"
}

/** The content of a resource: text, or bytes in base64. */
export interface MCPResourceContent {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  readonly blob?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

interface MCPBlockExtras {
  readonly annotations?: MCPAnnotations
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A piece of an MCP result. Our own types: no MCP package is needed to read them. */
export type MCPContentBlock =
  | ({ readonly type: "text"; readonly text: string } & MCPBlockExtras)
  | ({
      readonly type: "image"
      readonly data: string
      readonly mimeType: string
    } & MCPBlockExtras)
  | ({
      readonly type: "audio"
      readonly data: string
      readonly mimeType: string
    } & MCPBlockExtras)
  | ({ readonly type: "resource"; readonly resource: MCPResourceContent } & MCPBlockExtras)
  | ({
      readonly type: "resource_link"
      readonly uri: string
      readonly name: string
      readonly title?: string
      readonly description?: string
      readonly mimeType?: string
      readonly size?: number
      readonly icons?: readonly MCPIcon[]
    } & MCPBlockExtras)

/** Wraps a result of this process. */
export function localEnvelope<TData>(data: TData, operationId: string): ResponseEnvelope<TData> {
  if (typeof operationId !== "string")
    throw invalidArgument("localEnvelope", "operationId", "a string")
  return { data, meta: { source: "local", operationId, timestamp: wallTimeOf(systemClock) } }
}

/** Wraps the body of an HTTP response. */
export function httpEnvelope<TData>(
  data: TData,
  meta: Omit<HTTPResponseMeta, "source">,
): ResponseEnvelope<TData> {
  const envelope = reading("httpEnvelope(): meta", () => ({
    data,
    meta: { ...meta, source: "http" as const },
  }))
  if (!isResponseEnvelope(envelope))
    throw invalidArgument("httpEnvelope", "meta.statusCode", "a number")
  return envelope
}

/** Wraps the result of an MCP tool. */
export function mcpEnvelope<TData>(
  data: TData,
  meta: Omit<MCPResponseMeta, "source">,
): ResponseEnvelope<TData> {
  const envelope = reading("mcpEnvelope(): meta", () => ({
    data,
    meta: { ...meta, source: "mcp" as const },
  }))
  if (!isResponseEnvelope(envelope)) {
    throw invalidArgument(
      "mcpEnvelope",
      "meta",
      "an object with isError (boolean) and content (array)",
    )
  }
  if (envelope.meta.isError) toolErrors.add(envelope.meta)
  return envelope
}

/**
 * Whether a value is an envelope: `meta.source` is known and the fields of that source are there.
 *
 * An envelope of a void result loses `data` in JSON. It still counts as one if `meta` is its only property.
 */
export function isResponseEnvelope(value: unknown): value is ResponseEnvelope {
  if (typeof value !== "object" || value === null) return false
  try {
    return hasEnvelopeFields(value)
  } catch {
    // A getter or a Proxy trap threw, so the library did not create it.
    return false
  }
}

const toolErrors = new WeakSet<object>()

/** Whether `mcpEnvelope` created it: JSON of the same shape cannot claim that an MCP tool failed. */
export function isToolError(meta: ResponseMeta): boolean {
  return toolErrors.has(meta)
}

function hasEnvelopeFields(value: object): boolean {
  const { meta } = value as { meta?: unknown }
  if (typeof meta !== "object" || meta === null) return false
  if (!("data" in value) && Object.keys(value).length !== 1) return false
  const fields = meta as Record<string, unknown>
  switch (fields["source"]) {
    case "local":
      return typeof fields["operationId"] === "string" && typeof fields["timestamp"] === "number"
    case "http":
      return typeof fields["statusCode"] === "number"
    case "mcp":
      return typeof fields["isError"] === "boolean" && Array.isArray(fields["content"])
    default:
      return false
  }
}

/** The data of an envelope, error results of MCP tools included. */
export function unwrap<TData>(envelope: ResponseEnvelope<TData>): TData {
  if (!isResponseEnvelope(envelope))
    throw invalidArgument("unwrap", "envelope", "a ResponseEnvelope")
  return envelope.data
}

/** Whether a result is the error of an MCP tool, which it reports as its result. */
export function isFailedTool(meta: ResponseMeta): meta is MCPResponseMeta {
  return meta.source === "mcp" && meta.isError
}

/** The data of an envelope; throws a `CallError` when an MCP tool reported a failure. */
export function unwrapOrThrow<TData>(envelope: ResponseEnvelope<TData>): TData {
  if (!isResponseEnvelope(envelope))
    throw invalidArgument("unwrapOrThrow", "envelope", "a ResponseEnvelope")
  const { meta } = envelope
  if (isFailedTool(meta)) {
    const text = meta.content
      .flatMap((block) => (block?.type === "text" ? [block.text] : []))
      .join("\n")
    throw new CallError(
      "EXECUTION_ERROR",
      text || "The MCP tool reported an error without any text.",
      {
        details: { content: meta.content },
      },
    )
  }
  return envelope.data
}

function invalidArgument(name: string, argument: string, expected: string): TypeError {
  return new TypeError(`${name}(): ${argument} must be ${expected}.`)
}
