import { statusOf } from "../../core/problem.ts"
import { systemClock } from "../../internal/clock.ts"
import type { Logger } from "../../internal/logger.ts"
import { runAuthenticate, toVerdict } from "../authenticate.ts"
import type { Authenticated, KnownCaller, Verdict } from "../authenticate.ts"
import type { HTTPAnswer, HTTPCaller, HTTPIncoming } from "../exchange.ts"
import type { MountHost } from "../mount.ts"
import { checkUpgrade, readBearerToken, type UpgradeRules } from "../upgrade.ts"
import { jsonAnswer, NOT_SERVED, refuse, refuseWith, type Refusal } from "./answers.ts"
import type { MCPAuthOptions, ResourceMetadata } from "./options.ts"

/** A caller that your application has already authenticated. */
export interface GivenCaller {
  /** `null` for an anonymous caller; `undefined` when unknown. */
  readonly identity?: Authenticated | null | undefined
  /** As set by OAuth middleware; its token is not passed on. */
  readonly authInfo?: AuthInfoLike | undefined
}

export interface AuthInfoLike {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** The server in which this one is mounted, and the caller as that server knows it. */
export interface Mounted {
  readonly host: MountHost
  readonly caller: HTTPCaller
}

/** A request of an admitted caller. */
export interface MCPRequest {
  readonly incoming: HTTPIncoming
  readonly caller: KnownCaller
  readonly mount: Mounted | undefined
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource"
const LOCAL = { localAddress: "127.0.0.1" }

/** Decides which requests are admitted, and authenticates them unless the host server has. */
export class Authenticator {
  readonly #options: MCPAuthOptions & UpgradeRules
  readonly #logger: Logger
  readonly #metadata: { readonly path: string; readonly url: string } | undefined

  constructor(options: MCPAuthOptions & UpgradeRules, logger: Logger) {
    this.#options = options
    this.#logger = logger
    this.#metadata = placeOf(options.resourceMetadata)
  }

  /** Paths of the metadata, if there is any. */
  get metadataPaths(): readonly string[] {
    return this.#metadata === undefined ? [] : [WELL_KNOWN, this.#metadata.path]
  }

  /** The response to a request for the metadata, which is public; `undefined` for other requests. */
  metadata({ method, path }: Pick<HTTPIncoming, "method" | "path">): HTTPAnswer | undefined {
    if (!this.metadataPaths.includes(path)) return undefined
    const headers = { "access-control-allow-origin": "*", "cache-control": "max-age=3600" }
    if (method === "GET") {
      return jsonAnswer(200, JSON.stringify(this.#options.resourceMetadata), headers)
    }
    return refuse(405, NOT_SERVED, "Method not allowed.", { headers: { allow: "GET" } }).answer
  }

  /** The caller of a request. Throws a `Refusal`, or rejects with one. */
  admit(incoming: HTTPIncoming, mount?: Mounted): KnownCaller | Promise<KnownCaller> {
    const { authenticate, authenticateTimeout } = this.#options
    const isResolved =
      mount !== undefined && (mount.host.authenticate ?? mount.caller.identity) !== undefined
    const identity = mount === undefined ? incoming.identity : undefined
    this.#checkSource(
      incoming,
      mount,
      isResolved || authenticate !== undefined || identity !== undefined,
    )
    if (isResolved) return this.#checkScopes(mount.caller)
    const verdict =
      identity === undefined
        ? runAuthenticate(authenticate, incoming.like, authenticateTimeout, systemClock)
        : toVerdict(identity, systemClock)
    return verdict instanceof Promise
      ? verdict.then((settled) => this.#decide(incoming, settled))
      : this.#decide(incoming, verdict)
  }

  /** The refusal of an unauthenticated caller: where to get a token. */
  unauthorized(hasCredential: boolean): Refusal {
    const challenge = this.#challenge(hasCredential ? { error: "invalid_token" } : {})
    const message = hasCredential
      ? "Unauthorized: the token is not accepted. Get a new one."
      : "Unauthorized: send a token in the Authorization header."
    return refuse(401, NOT_SERVED, message, { headers: { "www-authenticate": challenge } })
  }

  /**
   * Checks host and origin: the host server has checked its rules, and this server adds its own.
   *
   * Without authentication, `Host` has to be a name of this machine, or one of `allowedHosts`:
   * a web page can point its own domain name at a local address. A page's `Origin`
   * has to be the same host, or one of `allowedOrigins`.
   */
  #checkSource({ like }: HTTPIncoming, mount: Mounted | undefined, isKnown: boolean): void {
    const { allowedHosts, allowedOrigins } = this.#options
    if (mount !== undefined && allowedHosts === undefined && allowedOrigins === undefined) return
    const seen = isKnown ? like : { headers: like.headers, socket: LOCAL }
    const refused = checkUpgrade(seen, this.#options)
    if (refused === undefined) return
    throw refuse(refused.status, NOT_SERVED, `Refused: ${refused.reason}.`)
  }

  #decide({ like }: HTTPIncoming, verdict: Verdict): KnownCaller {
    if (verdict.isKnown) return this.#checkScopes(verdict)
    const { reason, outage } = verdict
    const status = outage === undefined ? 401 : statusOf(outage.code)
    this.#logger.info("An MCP request was refused", { status, reason })
    throw outage === undefined
      ? this.unauthorized(readBearerToken(like) !== undefined)
      : refuseWith(outage)
  }

  #checkScopes({ identity, expiresAt }: KnownCaller): KnownCaller {
    const { requiredScopes = [] } = this.#options
    if (requiredScopes.every((scope) => identity?.scopes.includes(scope) ?? false)) {
      return { identity, expiresAt }
    }
    const challenge = this.#challenge({ error: "insufficient_scope" })
    const message = `Forbidden: this needs the scopes ${requiredScopes.join(" ")}.`
    throw refuse(403, NOT_SERVED, message, { headers: { "www-authenticate": challenge } })
  }

  #challenge(fields: Readonly<Record<string, string>>): string {
    const { requiredScopes = [] } = this.#options
    const all = {
      ...fields,
      ...(requiredScopes.length === 0 ? {} : { scope: requiredScopes.join(" ") }),
      ...(this.#metadata === undefined ? {} : { resource_metadata: this.#metadata.url }),
    }
    const parts = Object.entries(all).map(([name, value]) => `${name}="${quoted(value)}"`)
    return parts.length === 0 ? "Bearer" : `Bearer ${parts.join(", ")}`
  }
}

/** The path and URL of a resource's metadata: its path follows the well-known one. */
function placeOf(
  metadata: ResourceMetadata | undefined,
): { readonly path: string; readonly url: string } | undefined {
  if (metadata === undefined) return undefined
  const { origin, pathname } = new URL(metadata.resource)
  const path = `${WELL_KNOWN}${pathname === "/" ? "" : pathname}`
  return { path, url: `${origin}${path}` }
}

/** The identity of a caller that your application has authenticated. */
export function identityGiven(
  givenCaller: GivenCaller | undefined,
): Authenticated | null | undefined {
  if (givenCaller?.identity !== undefined) return givenCaller.identity
  const { authInfo } = givenCaller ?? {}
  if (authInfo === undefined) return undefined
  const subject = authInfo.extra?.["sub"]
  return { id: typeof subject === "string" ? subject : authInfo.clientId, scopes: authInfo.scopes }
}

function quoted(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "").replace(/["\\]/g, "\\$&")
}
