// Plain calls of modern clients, which are answered without the SDK: it would do a hundred times the work of the
// registry, and add nothing. Whatever is unusual about a request is left to the SDK, and so is everything invalid.
import { isRecord } from "../../internal/guards.ts"
import type { Identity } from "../../core/types.ts"
import { CAPABILITY_CODE, INVALID_PARAMS } from "../../mcp/errors.ts"
import { MODERN_VERSION, traceOf } from "../../mcp/model.ts"
import { callInRounds, type Connection } from "./call-tool.ts"
import type { HTTPIncoming } from "../exchange.ts"
import type { ProtocolError } from "./model.ts"
import { ENVELOPE, type RequestId } from "./sdk.ts"

/** A `tools/call` that has a result and nothing else: no progress, log messages or answers to questions. */
export interface PlainCall {
  readonly id: RequestId
  readonly params: Readonly<Record<string, unknown>> & {
    readonly name: string
    readonly arguments?: Readonly<Record<string, unknown>> | undefined
  }
  readonly meta: Readonly<Record<string, unknown>>
}

/** The answer to a plain call: a JSON-RPC message. */
export interface PlainAnswer {
  readonly status: number
  readonly message: Readonly<Record<string, unknown>>
}

/** `error.code` of the older era for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32002

const PARAMS: ReadonlySet<string> = new Set(["name", "arguments", "_meta"])

/** Reads a plain call; `undefined` for everything else. */
export function plainCallOf(
  body: unknown,
  incoming: Pick<HTTPIncoming, "header">,
): PlainCall | undefined {
  if (!isRecord(body) || Object.keys(body).length !== 4) return undefined
  const { jsonrpc, id, method, params } = body
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isRecord(params)) return undefined
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined
  const { name, arguments: input, _meta: meta } = params
  if (typeof name !== "string" || !isRecord(meta)) return undefined
  if (input !== undefined && !isRecord(input)) return undefined
  if (!Object.keys(params).every((key) => PARAMS.has(key)) || !isPlainEnvelope(meta))
    return undefined
  const isConfirmed =
    incoming.header("mcp-protocol-version") === MODERN_VERSION &&
    incoming.header("mcp-method") === method &&
    incoming.header("mcp-name") === name
  return isConfirmed
    ? { id: id as RequestId, params: params as PlainCall["params"], meta }
    : undefined
}

/** Whether the envelope of a request names its sender, and asks for nothing. */
function isPlainEnvelope(meta: Readonly<Record<string, unknown>>): boolean {
  for (const key of Object.keys(meta)) {
    const value = meta[key]
    switch (key) {
      case ENVELOPE.protocolVersion:
        break
      case ENVELOPE.clientCapabilities:
        if (!isRecord(value) || !Object.values(value).every(isRecord)) return false
        break
      case ENVELOPE.clientInfo:
        if (!isRecord(value) || !isImplementation(value)) return false
        break
      case "progressToken":
        return false
      default:
        if (key.startsWith("io.modelcontextprotocol/")) return false
    }
  }
  return (
    meta[ENVELOPE.protocolVersion] === MODERN_VERSION &&
    meta[ENVELOPE.clientCapabilities] !== undefined
  )
}

function isImplementation(info: Readonly<Record<string, unknown>>): boolean {
  return (
    Object.values(info).every((value) => typeof value === "string") &&
    typeof info["name"] === "string" &&
    typeof info["version"] === "string"
  )
}

/** Runs a plain call, as a request of the SDK would. */
export function runPlainCall(
  { surface, seal }: Connection,
  { params, meta }: PlainCall,
  identity: Identity | undefined,
  signal: AbortSignal,
): Promise<object> {
  const { name, arguments: input = {} } = params
  return callInRounds(
    surface,
    seal,
    { name, input, signal, requestState: undefined, inputResponses: undefined, envelope: meta },
    { identity, era: "modern", metadata: traceOf(meta) },
  )
}

/** The result of a plain call as a message; `serverMeta` names its server. */
export function resultMessage(
  { id }: PlainCall,
  result: object,
  serverMeta: Readonly<Record<string, unknown>>,
): PlainAnswer {
  const { _meta: meta } = result as { readonly _meta?: Readonly<Record<string, unknown>> }
  const named = {
    resultType: "complete",
    ...result,
    _meta: meta === undefined ? serverMeta : { ...serverMeta, ...meta },
  }
  return { status: 200, message: { result: named, jsonrpc: "2.0", id } }
}

/** The error of a plain call as a message. */
export function errorMessage(
  { id }: PlainCall,
  { code, message, data }: ProtocolError,
): PlainAnswer {
  const error = {
    // The modern era has no code of its own for it.
    code: code === RESOURCE_NOT_FOUND ? INVALID_PARAMS : code,
    message,
    ...(data !== undefined && { data }),
  }
  // The only error of a call with a status of its own.
  const status = code === CAPABILITY_CODE ? 400 : 200
  return { status, message: { jsonrpc: "2.0", id, error } }
}
