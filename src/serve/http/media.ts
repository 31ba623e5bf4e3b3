import type { HTTPIncoming } from "../exchange.ts"

const JSON_TYPE = /^application\/json[ \t]*(?:;(.*))?$/i
const CHARSET = /(?:^|;)[ \t]*charset[ \t]*=[ \t]*"?([^";]*)"?/i

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

function hasBody(incoming: HTTPIncoming): boolean {
  if (incoming.header("transfer-encoding") !== undefined) return true
  const length = incoming.header("content-length")
  return length !== undefined && length.trim() !== "0"
}
