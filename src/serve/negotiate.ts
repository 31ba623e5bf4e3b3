// Media types: those of bodies, and those that clients accept.

import type { HTTPIncoming } from "./exchange.ts"

/** Server-sent events. */
export const EVENTS = "text/event-stream"
/** One JSON value per line. */
export const LINES = "application/x-ndjson"
const JSON_TYPES: readonly string[] = ["application/json", "application/*"]

const JSON_TYPE = /^application\/json[ \t]*(?:;(.*))?$/i
const CHARSET = /(?:^|;)[ \t]*charset[ \t]*=[ \t]*"?([^";]*)"?/i

/** Whether a client accepts a type: by name, by a range, or without an `Accept` header. */
export function accepts(accept: string | undefined, type: string): boolean {
  // The usual case, without parsing.
  if (accept === undefined || accept === "*/*") return true
  if (accept === "application/json") return type === accept
  for (const range of [type, `${type.split("/", 1)[0]}/*`, "*/*"]) {
    const quality = qualityOf(accept, [range])
    if (quality !== undefined) return quality > 0
  }
  return accept.trim() === ""
}

/**
 * Whether a client prefers a type to JSON: events, lines, or a web page, as browsers do when a person opens an
 * address.
 */
export function prefers(accept: string | undefined, type: string): boolean {
  const quality = qualityOf(accept, [type]) ?? 0
  return quality > 0 && quality >= (qualityOf(accept, JSON_TYPES) ?? 0)
}

/** Whether a client accepts nothing but server-sent events. */
export function wantsOnlyEvents(accept: string | undefined): boolean {
  if (accept === undefined || (qualityOf(accept, [EVENTS]) ?? 0) === 0) return false
  return (qualityOf(accept, [...JSON_TYPES, "*/*"]) ?? 0) === 0
}

/**
 * How a client asks for a result: `data` without an envelope, or in an envelope unless it is a `file`.
 *
 * `Prefer: return=data`, `Prefer: return=file`.
 */
export function preferredReturn(prefer: string | undefined): "data" | "file" | undefined {
  if (prefer === undefined) return undefined
  for (const one of prefer.split(",")) {
    const text = (one.split(";", 1)[0] ?? "").replaceAll(/[\s"]/g, "").toLowerCase()
    if (text === "return=data") return "data"
    if (text === "return=file") return "file"
  }
  return undefined
}

/** Whether a client asks for the type of an operation, `Prefer: operation-type`, to send queries by GET later. */
export function asksForType(prefer: string | undefined): boolean {
  return prefer !== undefined && /\boperation-type\b/.test(prefer)
}

/** The highest weight of these media ranges; `undefined` when none of them is listed. */
function qualityOf(accept: string | undefined, types: readonly string[]): number | undefined {
  let best: number | undefined
  for (const range of (accept ?? "").split(",")) {
    const [essence = "", ...parameters] = range.split(";")
    if (!types.includes(essence.trim().toLowerCase())) continue
    const weight = parameters
      .map((one) => one.trim().toLowerCase())
      .find((one) => one.startsWith("q="))
    const quality = weight === undefined ? 1 : Number(weight.slice(2))
    if (best === undefined || quality > best) best = quality
  }
  return best
}

/**
 * Why a body is not accepted, or `undefined`.
 *
 * Only declared JSON is accepted, except on paths that take files, whose types are checked there: web pages can
 * send other types to any server without a preflight request.
 */
export function checkMedia(incoming: HTTPIncoming, takesFiles = false): string | undefined {
  const { method } = incoming
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return undefined
  const coding = incoming.header("content-encoding")
  const type = incoming.header("content-type")
  // The usual case.
  if (coding === undefined && type === "application/json") return undefined
  const encoding = coding?.trim().toLowerCase() ?? ""
  if (encoding !== "" && encoding !== "identity") {
    return "Send the body without a content encoding; compressed bodies are not taken."
  }
  if (type === undefined) {
    return hasBody(incoming) ? "Say what the body is: content-type: application/json." : undefined
  }
  const match = JSON_TYPE.exec(type.trim())
  if (match === null && takesFiles) return undefined
  if (match === null) return "Send the body as content-type: application/json."
  const charset =
    CHARSET.exec(match[1] ?? "")?.[1]
      ?.trim()
      .toLowerCase() ?? "utf-8"
  return charset === "utf-8" || charset === "utf8" ? undefined : "Send the body in UTF-8."
}

/** Whether a body is JSON, or there is none. */
export function isJsonBody(incoming: HTTPIncoming): boolean {
  const type = incoming.header("content-type")
  return type === undefined || type === "application/json" || JSON_TYPE.test(type.trim())
}

/** Whether a request has a body, by its headers. */
export function hasBody(incoming: HTTPIncoming): boolean {
  if (incoming.header("transfer-encoding") !== undefined) return true
  const length = incoming.header("content-length")
  return length !== undefined && length.trim() !== "0"
}
