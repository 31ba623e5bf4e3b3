import type { OptionsSchema } from "../../internal/options.ts"
import { checkUpgrade, type UpgradeRequestLike, type UpgradeRules } from "../upgrade.ts"
import type { HTTPAnswer, HTTPIncoming, HTTPHeaders } from "../exchange.ts"

/** Origins whose pages may call the API. Default: none. */
export interface CorsOptions {
  /** Such as `["https://app.example.com"]`; `["*"]` for all, never together with `credentials`. */
  readonly origins: readonly string[]
  /** Allows browsers to send cookies. */
  readonly credentials?: boolean | undefined
}

export const CORS_OPTIONS: OptionsSchema<CorsOptions> = {
  origins: { required: { list: "text" } },
  credentials: "boolean",
}

/** Options of allowed hosts and origins. */
export interface SourceOptions extends UpgradeRules {
  readonly cors?: CorsOptions | undefined
}

// Those of own routes. DELETE also ends an MCP session; the MCP headers are those of both protocol eras.
const METHODS = "GET, POST, PUT, PATCH, DELETE"
const REQUEST_HEADERS =
  "accept, authorization, baggage, cache-control, content-disposition, content-type, idempotency-key, last-event-id, mcp-method, mcp-name, " +
  "mcp-protocol-version, mcp-session-id, prefer, request-id, traceparent, tracestate, x-api-key, x-outer-call, " +
  "x-resume, x-timeout-ms, x-dry-run"
const EXPOSED =
  "content-disposition, deprecation, link, mcp-session-id, operation-type, preference-applied, request-id, retry-after, " +
  "sunset, www-authenticate, x-dry-run"
const PREFLIGHT: HTTPHeaders = {
  "access-control-allow-methods": METHODS,
  "access-control-allow-headers": REQUEST_HEADERS,
  "access-control-max-age": "600",
}

const LOCAL = { localAddress: "127.0.0.1" }

/**
 * Checks the host and origin of requests, and computes the headers of their responses.
 *
 * Without authentication, `Host` has to be a name of this machine, or one of `allowedHosts`:
 * a web page can point its own domain name at a local address.
 */
export class Sources {
  readonly rules: UpgradeRules
  /** Pages of every origin may call. */
  readonly #isOpen: boolean
  readonly #isAuthenticated: boolean
  readonly #anonymous: HTTPHeaders
  readonly #personal: HTTPHeaders
  // Cached from the last request: the next one is nearly always the same.
  #lastHost: string | readonly string[] | undefined
  #lastAddress: string | undefined
  readonly #perOrigin = new Map<string, HTTPHeaders>()

  /** Throws a `TypeError` for invalid options. */
  constructor(
    { allowedHosts, allowedOrigins = [], cors }: SourceOptions,
    isAuthenticated: boolean,
  ) {
    const named = cors === undefined ? [] : namedOrigins(cors)
    this.#isOpen = cors?.origins.includes("*") === true
    this.#isAuthenticated = isAuthenticated
    this.rules = { allowedHosts, allowedOrigins: [...allowedOrigins, ...named] }
    const vary = cors === undefined || this.#isOpen ? [] : ["Origin"]
    const open = this.#isOpen ? corsHeaders("*") : {}
    this.#anonymous = baseHeaders(vary, open)
    this.#personal = baseHeaders(["Authorization", "X-API-Key", "Cookie", ...vary], open)
    for (const origin of this.#isOpen ? [] : named) {
      this.#perOrigin.set(origin, { ...this.#personal, ...corsHeaders(origin, cors?.credentials) })
    }
  }

  /** HTTPHeaders of the response to a request. */
  headersFor(incoming: HTTPIncoming): HTTPHeaders {
    if (this.#perOrigin.size > 0) {
      const headers = this.#perOrigin.get(incoming.header("origin") ?? "")
      if (headers !== undefined) return headers
    }
    const isPersonal = this.#isAuthenticated || incoming.identity !== undefined
    return isPersonal ? this.#personal : this.#anonymous
  }

  /**
   * Why the host or origin of a request is refused; `undefined` when it is allowed. `isPublic` is for paths that
   * any page may link to.
   */
  check(incoming: HTTPIncoming, isPublic: boolean): string | undefined {
    const { headers } = incoming.like
    const isKnown = this.#isAuthenticated || incoming.identity !== undefined
    const socket = isKnown ? incoming.like.socket : LOCAL
    const isPlain =
      headers["origin"] === undefined &&
      headers["sec-websocket-origin"] === undefined &&
      headers["sec-fetch-site"] === undefined
    const host = headers[":authority"] ?? headers["host"]
    const address = socket?.localAddress
    if (isPlain && host === this.#lastHost && address === this.#lastAddress) return undefined
    const seen: UpgradeRequestLike = { headers: this.#isOpen ? { host } : headers, socket }
    const refused = checkUpgrade(seen, this.rules, isPublic && isNavigation(incoming))
    if (refused !== undefined) return refused.reason
    if (isPlain) {
      this.#lastHost = host
      this.#lastAddress = address
    }
    return undefined
  }

  /** The response to a preflight request; `undefined` for other requests. */
  preflight(incoming: HTTPIncoming): HTTPAnswer | undefined {
    const origin = incoming.header("origin")
    if (incoming.method !== "OPTIONS" || origin === undefined) return undefined
    if (incoming.header("access-control-request-method") === undefined) return undefined
    if (!this.#isOpen && !this.#perOrigin.has(origin)) return undefined
    return { status: 204, headers: { ...this.headersFor(incoming), ...PREFLIGHT } }
  }
}

function isNavigation({ method, like: { headers } }: HTTPIncoming): boolean {
  return headers["sec-fetch-mode"] === "navigate" && (method === "GET" || method === "HEAD")
}

function baseHeaders(vary: readonly string[], cors: HTTPHeaders): HTTPHeaders {
  return Object.freeze({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    ...(vary.length === 0 ? {} : { vary: vary.join(", ") }),
    ...cors,
  })
}

/** HTTPHeaders that let a page of an origin read a response. */
function corsHeaders(origin: string, credentials = false): HTTPHeaders {
  return {
    "access-control-allow-origin": origin,
    ...(credentials ? { "access-control-allow-credentials": "true" } : {}),
    "access-control-expose-headers": EXPOSED,
  }
}

/** The listed origins, without `*`. Throws a `TypeError` for invalid options. */
function namedOrigins({ origins, credentials = false }: CorsOptions): readonly string[] {
  if (origins.length === 0) {
    throw new TypeError('cors.origins must name at least one origin: ["https://app.example.com"].')
  }
  if (origins.includes("*") && credentials) {
    throw new TypeError(
      'cors: "*" with credentials would let every page act for its visitors. Name the origins.',
    )
  }
  return origins.filter((origin) => origin !== "*").map(checkOrigin)
}

/** Validates an origin as browsers send it; anything else would never match, or match too much. */
function checkOrigin(text: string): string {
  const isOne = !text.includes("*") && URL.canParse(text)
  if (isOne && new URL(text).origin === text) return text
  throw new TypeError(
    `cors.origins: "${text}" is not an origin. Write scheme, host and port only, without a slash at the ` +
      'end: "https://app.example.com".',
  )
}
