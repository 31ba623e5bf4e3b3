// JSON-RPC: the forms of messages, and how they are read and written.

import { isRecord } from "../../internal/guards.ts"
import type { JsonRpcError } from "../../mcp/error-parts.ts"
import type { JsonObject } from "../../mcp/model.ts"

/** A JSON-RPC id. */
export type RequestId = string | number

/** A request, or without an id a notification. */
export interface RPCNotification {
  readonly method: string
  readonly params?: JsonObject
}

export interface RPCRequest extends RPCNotification {
  readonly id: RequestId
}

/** The answer of a client to a request of ours. */
export interface RPCResponse {
  readonly id?: RequestId
  readonly result?: JsonObject
  readonly error?: JsonRpcError
}

/** A valid message, by its kind. */
export type RPCMessage =
  | { readonly is: "request"; readonly message: RPCRequest }
  | { readonly is: "notification"; readonly message: RPCNotification }
  | { readonly is: "response"; readonly message: RPCResponse }

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INTERNAL_ERROR = -32603

/** Reads a message; `undefined` for everything that is none, also for one with unknown members. */
export function readMessage(value: unknown): RPCMessage | undefined {
  if (!isRecord(value) || value["jsonrpc"] !== "2.0") return undefined
  const { id, method, params, result, error } = value
  const members = Object.keys(value).length - 1
  const isIdentified = isRequestId(id)
  // A member that is there and not valid makes a message of other members too large.
  const ids = isIdentified ? 1 : 0
  if (typeof method === "string") {
    if (params !== undefined && !isParams(params)) return undefined
    if (members !== ids + (params === undefined ? 1 : 2)) return undefined
    return isIdentified
      ? { is: "request", message: value as unknown as RPCRequest }
      : { is: "notification", message: value as unknown as RPCNotification }
  }
  const isResult = isIdentified && isRecord(result)
  if (members !== ids + 1 || !(isResult || isError(error))) return undefined
  return { is: "response", message: value as unknown as RPCResponse }
}

/** The id of what may be a request, also of an invalid one; `null` when it has none. */
export function idOf(value: unknown): RequestId | null {
  if (!isRecord(value) || typeof value["method"] !== "string") return null
  const { id } = value
  return typeof id === "string" || typeof id === "number" ? id : null
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value)
}

function isParams(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { _meta: meta } = value
  if (meta === undefined) return true
  if (!isRecord(meta)) return false
  return meta["progressToken"] === undefined || isRequestId(meta["progressToken"])
}

function isError(value: unknown): boolean {
  return isRecord(value) && Number.isInteger(value["code"]) && typeof value["message"] === "string"
}

/** A notification to send. */
export function notification(method: string, params?: JsonObject): object {
  return { jsonrpc: "2.0", method, params }
}

/** The response to a request: the text of a message, and its status where it is sent over HTTP. */
export interface Answer {
  readonly status: number
  readonly text: string
}

export function success(id: RequestId, result: object): Answer {
  return { status: 200, text: JSON.stringify({ jsonrpc: "2.0", id, result }) }
}

export function failure(id: RequestId | null, error: JsonRpcError, status = 200): Answer {
  return { status, text: JSON.stringify({ jsonrpc: "2.0", id, error }) }
}
