import { isLoopback } from "../internal/unencrypted.ts"
import { fromBase64 } from "../internal/base64.ts"
import type { OptionsSchema } from "../internal/options.ts"
import { TOKEN_PREFIX } from "../transport/websocket/subprotocols.ts"

/** An upgrade request; Node's `IncomingMessage` is one. */
export interface UpgradeRequestLike {
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly socket?:
    | { readonly localAddress?: string | undefined; readonly remoteAddress?: string | undefined }
    | undefined
}

/** Allowed hosts and origins. */
export interface UpgradeRules {
  readonly allowedOrigins?: readonly string[] | undefined
  readonly allowedHosts?: readonly string[] | undefined
}

export const UPGRADE_RULES: OptionsSchema<UpgradeRules> = {
  allowedOrigins: { list: "text" },
  allowedHosts: { list: "text" },
}

/** A refusal: the status, and the reason for the log. */
export interface UpgradeRefusal {
  readonly status: number
  readonly reason: string
  readonly retryAfterMs?: number | undefined
}

const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"]

/**
 * Reads the bearer token of a request: from the `Authorization` header, or from the subprotocol in which
 * browsers send it. Use it in `authenticate`.
 */
export function readBearerToken(request: UpgradeRequestLike): string | undefined {
  const authorization = header(request, "authorization")
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1]
  if (token !== undefined) return token
  const offered = (header(request, "sec-websocket-protocol") ?? "").split(",")
  const carrier = offered.map((name) => name.trim()).find((name) => name.startsWith(TOKEN_PREFIX))
  if (carrier === undefined) return undefined
  const text = carrier.slice(TOKEN_PREFIX.length).replaceAll("-", "+").replaceAll("_", "/")
  const bytes = fromBase64(text)
  if (bytes === undefined || bytes.length === 0) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Reads the credentials of a request. */
export function readCredential(request: UpgradeRequestLike): {
  readonly isPresent: boolean
  readonly apiKey: string | undefined
  readonly bearer: string | undefined
} {
  const { "x-api-key": sent, authorization } = request.headers
  const apiKey = typeof sent === "string" || sent === undefined ? sent : sent.join(", ")
  const bearer = readBearerToken(request)
  const isPresent = apiKey !== undefined || bearer !== undefined || authorization !== undefined
  return { isPresent, apiKey, bearer }
}

/** The path of a request, without its query. */
export function pathOf(request: UpgradeRequestLike): string {
  return (request.url ?? "/").split("?", 1)[0] as string
}

// `Sec-Fetch-Site` of requests that no other origin caused: its own page, or the address bar.
const OWN_SITES: readonly string[] = ["same-origin", "none"]

/**
 * Checks the host and origin of a request; returns a refusal when they are not allowed.
 *
 * Browsers let any page open a WebSocket to any server, with the user's cookies, and name the page in
 * `Origin`. Frames, links, images and scripts have no `Origin`; `Sec-Fetch-Site` says that another
 * page caused them. A page can also point its own domain name at a loopback address; `Host` reveals that.
 * `isLink` admits a request that another page may cause.
 *
 * The proxy of a development server, such as Vite's, replaces `Host` and keeps the rest. Its requests are admitted
 * between names of this machine if the browser states that the page called its own origin: `Sec-Fetch-Site` cannot be
 * set by a page, so only a program of this machine can have passed such a request on.
 */
export function checkUpgrade(
  request: UpgradeRequestLike,
  rules: UpgradeRules,
  isLink = false,
): UpgradeRefusal | undefined {
  // HTTP/2 has the host in a pseudo-header.
  const host = (header(request, ":authority") ?? header(request, "host"))?.toLowerCase()
  if (!isAllowedHost(request, host, rules.allowedHosts)) {
    return { status: 403, reason: `host "${host ?? ""}" is not in allowedHosts` }
  }
  const site = header(request, "sec-fetch-site")
  // Version 8 of the protocol used another header name.
  for (const name of ["origin", "sec-websocket-origin"]) {
    const origin = header(request, name)
    if (origin === undefined || isAllowedOrigin(origin, host, rules.allowedOrigins)) continue
    if (site === "same-origin" && isLocalName(host) && isLocalOrigin(origin)) continue
    return { status: 403, reason: `origin "${origin}" is not in allowedOrigins${cureFor(origin)}` }
  }
  if (site === undefined || isLink || OWN_SITES.includes(site)) return undefined
  if (isNamed(header(request, "origin"), rules.allowedOrigins)) return undefined
  return { status: 403, reason: "a page of another origin caused this request" }
}

function isAllowedHost(
  request: UpgradeRequestLike,
  host: string | undefined,
  allowed: readonly string[] | undefined,
): boolean {
  const isLocal = isLoopback(request.socket?.localAddress ?? "")
  if (!isLocal && allowed === undefined) return true
  if (host === undefined) return false
  if (isLocal && isLocalName(host)) return true
  const name = withoutPort(host)
  return (allowed ?? []).some((entry) => [host, name].includes(entry.toLowerCase()))
}

function isAllowedOrigin(
  origin: string,
  host: string | undefined,
  allowed: readonly string[] = [],
): boolean {
  // All sandboxed pages and local files have the origin "null".
  if (origin === "null") return false
  if (isNamed(origin, allowed)) return true
  try {
    return host !== undefined && new URL(origin).host === host
  } catch {
    return false
  }
}

/** What to write where the server of a page under development passes its requests on. */
function cureFor(origin: string): string {
  if (!isLocalOrigin(origin)) return ""
  const list = `allowedOrigins: ["${new URL(origin).origin}"]`
  return `. If this is your development server, set ${list}, or let its proxy keep the Host header (changeOrigin: false)`
}

function isLocalOrigin(origin: string): boolean {
  return URL.canParse(origin) && LOOPBACK_NAMES.includes(new URL(origin).hostname)
}

function isLocalName(host: string | undefined): boolean {
  return host !== undefined && LOOPBACK_NAMES.includes(withoutPort(host))
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "")
}

function isNamed(origin: string | undefined, allowed: readonly string[] = []): boolean {
  if (origin === undefined || origin === "null") return false
  return allowed.some((entry) => entry.replace(/\/$/, "").toLowerCase() === origin.toLowerCase())
}

function header(request: UpgradeRequestLike, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === "string" ? value : value?.join(",")
}
