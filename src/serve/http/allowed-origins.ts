import { checkUpgrade } from "../upgrade.ts"
import type { UpgradeRequestLike, UpgradeRules } from "../upgrade.ts"
import { Cors } from "./cors.ts"
import type { CorsOptions } from "./cors.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"

type Headers = Readonly<Record<string, string>>

/** Options of allowed hosts and origins. */
export interface SourceOptions extends UpgradeRules {
  readonly cors?: CorsOptions | undefined
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
  readonly #cors: Cors | undefined
  readonly #isAuthenticated: boolean
  readonly #anonymous: Headers
  readonly #personal: Headers
  // Cached from the last request: the next one is nearly always the same.
  #lastHost: string | readonly string[] | undefined
  #lastAddress: string | undefined
  readonly #perOrigin = new Map<string, Headers>()

  constructor({ allowedHosts, allowedOrigins, cors }: SourceOptions, isAuthenticated: boolean) {
    this.#cors = cors === undefined ? undefined : new Cors(cors)
    this.#isAuthenticated = isAuthenticated
    const origins = [...(allowedOrigins ?? []), ...(this.#cors?.origins ?? [])]
    this.rules = { allowedHosts, allowedOrigins: origins }
    const byOrigin = this.#cors !== undefined && !this.#cors.isOpen
    this.#anonymous = baseHeaders(byOrigin ? ["Origin"] : [])
    this.#personal = baseHeaders([
      "Authorization",
      "X-API-Key",
      "Cookie",
      ...(byOrigin ? ["Origin"] : []),
    ])
    for (const origin of this.#cors?.isOpen === false ? this.#cors.origins : []) {
      this.#perOrigin.set(origin, { ...this.#personal, ...this.#cors?.headersFor(origin) })
    }
    if (this.#cors?.isOpen === true) {
      const open = this.#cors.headersFor("*")
      this.#anonymous = { ...this.#anonymous, ...open }
      this.#personal = { ...this.#personal, ...open }
    }
  }

  /** Headers of the response to a request. */
  headersFor(incoming: HTTPIncoming): Headers {
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
    const isOpen = this.#cors?.isOpen === true
    const seen: UpgradeRequestLike = {
      headers: isOpen ? { host } : headers,
      socket,
    }
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
    if (this.#cors === undefined || incoming.method !== "OPTIONS") return undefined
    const origin = incoming.header("origin")
    if (origin === undefined) return undefined
    if (incoming.header("access-control-request-method") === undefined) return undefined
    const allowed = this.#cors.preflightHeadersFor(origin)
    if (allowed === undefined) return undefined
    return { status: 204, headers: { ...this.headersFor(incoming), ...allowed } }
  }
}

function isNavigation({ method, like: { headers } }: HTTPIncoming): boolean {
  return headers["sec-fetch-mode"] === "navigate" && (method === "GET" || method === "HEAD")
}

function baseHeaders(vary: readonly string[]): Headers {
  return Object.freeze({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    ...(vary.length === 0 ? {} : { vary: vary.join(", ") }),
  })
}
