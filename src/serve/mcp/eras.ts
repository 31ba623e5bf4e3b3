// Which of the two lifecycles a message belongs to: since 2026-07-28 each request says so in its envelope, and over
// HTTP its headers repeat what proxies want to know.

import { isRecord } from "../../internal/guards.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { ENVELOPE, isLogLevel, MODERN_VERSION } from "../../mcp/model.ts"
import type { JsonObject, MCPEra } from "../../mcp/model.ts"
import type { HTTPIncoming } from "../exchange.ts"
import { decodeHeader } from "./headers.ts"
import { ProtocolError } from "../../tools/model.ts"
import type { RPCMessage } from "./messages.ts"

/** `error.code` of headers that contradict the body. */
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022

/**
 * The era of a request or notification; `incoming` has its headers, if it came over HTTP. Throws a `ProtocolError`
 * for a message that contradicts itself, or has a version that is not served.
 */
export function eraOf(
  { is, message: { method, params } }: Exclude<RPCMessage, { is: "response" }>,
  incoming?: Pick<HTTPIncoming, "header">,
): MCPEra {
  const isRequest = is === "request"
  const meta = params?.["_meta"] as JsonObject | undefined
  const claimed = meta?.[ENVELOPE.protocolVersion]
  const header = incoming?.header("mcp-protocol-version")?.trim()
  const version = typeof claimed === "string" ? claimed : header
  const isOld = claimed === undefined || (version !== undefined && version < MODERN_VERSION)
  const isHandshake = isRequest && method === "initialize" && isOld
  if (claimed === undefined || isHandshake) {
    if (header === undefined || header < MODERN_VERSION) return "legacy"
    if (isHandshake) throw mismatch(header, "initialize belongs to versions before that")
    if (isRequest) throw badEnvelope(ENVELOPE.protocolVersion, "missing, and the header has one")
  } else {
    for (const [key, problem, isValid] of isRequest ? MEMBERS : MEMBERS.slice(0, 1)) {
      if (!isValid(meta?.[key])) throw badEnvelope(key, problem)
    }
    if (header !== undefined && header !== claimed) {
      throw mismatch(header, `the envelope names protocol version ${version}`)
    }
  }
  const confirmed = incoming?.header("mcp-method")?.trim()
  if (confirmed !== undefined && confirmed !== method) {
    throw mismatch(confirmed, `the body names method ${method}`)
  }
  if (version !== MODERN_VERSION) {
    const data = { supported: [MODERN_VERSION], requested: version }
    throw new ProtocolError(UNSUPPORTED_VERSION, `Unsupported version: ${version}`, data, 400)
  }
  if (isRequest && incoming !== undefined) {
    if (header === undefined) throw mismatch(MISSING, "MCP-Protocol-Version is required")
    if (confirmed === undefined) throw mismatch(MISSING, "Mcp-Method is required")
    const subject = SUBJECTS.get(method)
    if (subject !== undefined) checkName(params?.[subject], incoming.header("mcp-name")?.trim())
  }
  return "modern"
}

/** The parameter that the header `Mcp-Name` repeats. */
const SUBJECTS: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
])

const MISSING = "(missing)"

function checkName(name: unknown, header: string | undefined): void {
  if (typeof name !== "string") return
  if (header === undefined) throw mismatch(MISSING, "Mcp-Name is required")
  const decoded = decodeHeader(header)
  if (decoded === undefined) throw mismatch(header, "Mcp-Name is not valid Base64")
  if (decoded !== name) throw mismatch(header, `the body names ${name}`)
}

/** The error for a header that contradicts the body. */
export function mismatch(header: string, body: string): ProtocolError {
  const message = `Bad Request: the headers and the body disagree: ${header}, ${body}.`
  return new ProtocolError(HEADER_MISMATCH, message, { mismatch: { header, body } }, 400)
}

function badEnvelope(key: string, problem: string): ProtocolError {
  const message = `Invalid params: _meta.${key} of protocol version ${MODERN_VERSION}: ${problem}.`
  return new ProtocolError(INVALID_PARAMS, message, { envelope: { key, problem } }, 400)
}

/** The members of an envelope: key, what is wrong with an invalid one, and which are valid. */
const MEMBERS: readonly (readonly [string, string, (value: unknown) => boolean])[] = [
  [ENVELOPE.protocolVersion, "it must be a string", (value) => typeof value === "string"],
  [ENVELOPE.clientCapabilities, "it must be an object of objects", isCapabilities],
  [
    ENVELOPE.clientInfo,
    "it must have the strings name and version",
    (value) => value === undefined || isImplementation(value),
  ],
  [
    ENVELOPE.logLevel,
    "it must be a log level",
    (value) => value === undefined || isLogLevel(value),
  ],
]

/** Capabilities that clients declare with an object. */
const CAPABILITIES = ["experimental", "sampling", "elicitation", "roots", "extensions"] as const

function isCapabilities(value: unknown): boolean {
  if (!isRecord(value)) return false
  return CAPABILITIES.every((key) => value[key] === undefined || isRecord(value[key]))
}

/** Whether a value names a client: it has a name and a version. */
export function isImplementation(info: unknown): boolean {
  return isRecord(info) && typeof info["name"] === "string" && typeof info["version"] === "string"
}
