import type { SettledServer } from "../config.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { MODERN_VERSION } from "../../../mcp/model.ts"
import { memberOf } from "./frames.ts"

/** One way to connect. */
export interface Attempt {
  readonly kind: "stream" | "http" | "sse"
  readonly mode: MCPEra | "auto"
}

/** A way that did not work. */
export interface Tried {
  readonly attempt: Attempt
  readonly thrown: unknown
}

/**
 * How to connect first.
 *
 * Over HTTP it is asked first whether a server is modern, which costs a round trip. A process is
 * taken for a legacy one: many of those never answer what they do not know, and some end.
 */
export function attempts(settled: SettledServer, known: MCPEra | undefined): Attempt {
  const { channel, era } = settled
  const wanted = era === "auto" ? known : era
  if (channel.kind !== "http") return { kind: "stream", mode: wanted ?? "legacy" }
  if (channel.sse === "only") return { kind: "sse", mode: "legacy" }
  if (era === "auto" && wanted === "modern") return { kind: "http", mode: "auto" }
  return { kind: "http", mode: wanted ?? "auto" }
}

/** What to try after a failure; `undefined` when nothing else makes sense. */
export function nextAttempt(settled: SettledServer, tried: readonly Tried[]): Attempt | undefined {
  const last = tried.at(-1)
  if (last === undefined) return undefined
  const next = after(settled, last)
  const wasTried = tried.some(
    ({ attempt }) => attempt.kind === next?.kind && attempt.mode === next.mode,
  )
  return wasTried ? undefined : next
}

function after(settled: SettledServer, { attempt, thrown }: Tried): Attempt | undefined {
  const { channel, era } = settled
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
      return afterHttp(settled, attempt.mode, thrown)
  }
}

function afterHttp(
  { channel, era }: SettledServer,
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

/** The server broke on a question that it did not know; an old one may do that. */
function isUnanswered(thrown: unknown, status: number | undefined): boolean {
  if (status !== undefined) return status >= 500
  const code = memberOf(thrown, "code")
  if (code === "REQUEST_TIMEOUT" || code === "CLIENT_HTTP_UNEXPECTED_CONTENT") return true
  if (code !== "ERA_NEGOTIATION_FAILED") return false
  const cause = memberOf(thrown, "cause") ?? memberOf(memberOf(thrown, "data"), "cause")
  // Nobody there: asking once more helps nobody. What came and could not be read is something else.
  return cause instanceof Error && cause.name !== "TypeError" && cause.name !== "CallError"
}

/** Whether a server refused `initialize` because it knows only what came after it. */
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

/** The status of an answer over HTTP. */
export function statusOf(thrown: unknown): number | undefined {
  const status = memberOf(memberOf(thrown, "data"), "status")
  if (typeof status === "number") return status
  // The old transport says it in words, and as a code.
  const message = thrown instanceof Error ? thrown.message : ""
  const [, said] = /\(HTTP (\d{3})\)/.exec(message) ?? []
  if (said !== undefined) return Number(said)
  const code = memberOf(thrown, "code")
  return typeof code === "number" && code >= 100 && code < 600 ? code : undefined
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 4000) : ""
}
