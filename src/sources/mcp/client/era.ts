import type { ResolvedServer } from "../config.ts"
import { MODERN_VERSION, type MCPEra } from "../../../mcp/model.ts"
import { memberOf } from "./sdk.ts"

/** One way to connect. */
export interface Attempt {
  readonly kind: "stream" | "http" | "sse"
  readonly mode: MCPEra | "auto"
}

/** A failed attempt. */
export interface Tried {
  readonly attempt: Attempt
  readonly thrown: unknown
}

/**
 * The first attempt to connect.
 *
 * Over HTTP we probe first whether a server is modern, which costs a round trip. A process is assumed to be
 * legacy: many of them never answer unknown requests, and some exit.
 */
export function firstAttempt(server: ResolvedServer, knownEra: MCPEra | undefined): Attempt {
  const { channel, era } = server
  const wanted = era === "auto" ? knownEra : era
  if (channel.kind !== "http") return { kind: "stream", mode: wanted ?? "legacy" }
  if (channel.sse === "only") return { kind: "sse", mode: "legacy" }
  if (era === "auto" && wanted === "modern") return { kind: "http", mode: "auto" }
  return { kind: "http", mode: wanted ?? "auto" }
}

/** The next attempt after a failure; `undefined` when no other makes sense. */
export function nextAttempt(server: ResolvedServer, tried: readonly Tried[]): Attempt | undefined {
  const last = tried.at(-1)
  if (last === undefined) return undefined
  const next = attemptAfter(server, last)
  const wasTried = tried.some(
    ({ attempt }) => attempt.kind === next?.kind && attempt.mode === next.mode,
  )
  return wasTried ? undefined : next
}

function attemptAfter(server: ResolvedServer, { attempt, thrown }: Tried): Attempt | undefined {
  const { channel, era } = server
  if (channel.kind === "own" && !channel.isRepeatable) return undefined
  switch (attempt.kind) {
    case "sse":
      return undefined
    case "stream":
      if (era !== "auto") return undefined
      if (attempt.mode === "legacy") {
        return isModernOnly(thrown) ? { kind: "stream", mode: "modern" } : undefined
      }
      return memberOf(thrown, "code") === "ERA_NEGOTIATION_FAILED"
        ? { kind: "stream", mode: "legacy" }
        : undefined
    case "http":
      return attemptAfterHttp(server, attempt.mode, thrown)
  }
}

function attemptAfterHttp(
  { channel, era }: ResolvedServer,
  mode: Attempt["mode"],
  thrown: unknown,
): Attempt | undefined {
  const status = statusOf(thrown)
  const hasSse = channel.kind === "http" && channel.sse === "fallback" && era !== "modern"
  if (hasSse && (status === 404 || status === 405)) return { kind: "sse", mode: "legacy" }
  if (era !== "auto") return undefined
  if (mode === "legacy") return isModernOnly(thrown) ? { kind: "http", mode: "auto" } : undefined
  return isUnanswered(thrown, status) ? { kind: "http", mode: "legacy" } : undefined
}

/** Whether the server failed on the probe, as an old one may do. */
function isUnanswered(thrown: unknown, status: number | undefined): boolean {
  if (status !== undefined) return status >= 500
  const code = memberOf(thrown, "code")
  if (code === "REQUEST_TIMEOUT" || code === "CLIENT_HTTP_UNEXPECTED_CONTENT") return true
  if (code !== "ERA_NEGOTIATION_FAILED") return false
  const cause = memberOf(thrown, "cause") ?? memberOf(memberOf(thrown, "data"), "cause")
  // If the server is unreachable, another attempt is useless; if its response was unreadable, it is not.
  return cause instanceof Error && cause.name !== "TypeError" && cause.name !== "CallError"
}

/** Whether a server refused `initialize` because it supports the modern era only. */
function isModernOnly(thrown: unknown): boolean {
  const message = thrown instanceof Error ? thrown.message : ""
  const code = memberOf(thrown, "code")
  if (code === -32022 || code === -32601) return true
  const text = `${message} ${textOf(memberOf(memberOf(thrown, "data"), "text"))}`
  if (code === -32602 || code === -32600) {
    return /protocol ?version|_meta|clientCapabilities|initiali[sz]e/i.test(text)
  }
  if (/-32022\b/.test(text)) return true
  return text.includes(MODERN_VERSION)
}

/** The HTTP status of a failure. */
export function statusOf(thrown: unknown): number | undefined {
  const status = memberOf(memberOf(thrown, "data"), "status")
  if (typeof status === "number") return status
  // The SSE transport puts it into the message, or into the code.
  const message = thrown instanceof Error ? thrown.message : ""
  const [, quoted] = /\(HTTP (\d{3})\)/.exec(message) ?? []
  if (quoted !== undefined) return Number(quoted)
  const code = memberOf(thrown, "code")
  return typeof code === "number" && code >= 100 && code < 600 ? code : undefined
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 4000) : ""
}
