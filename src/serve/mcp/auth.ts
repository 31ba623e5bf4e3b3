import { statusOf } from "../../core/problem.ts"
import { systemClock } from "../../internal/clock.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import { runAuthenticate, toVerdict } from "../authenticate.ts"
import type { Authenticate, Verdict } from "../authenticate.ts"
import type { Authenticated } from "../authenticated.ts"
import { readBearerToken } from "../upgrade.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import { jsonAnswer, NOT_SERVED, refuse, refuseWith } from "./answers.ts"
import type { TextAnswer } from "./answers.ts"
import type { MCPCaller } from "./server.ts"

/** Where clients get tokens for this server: RFC 9728. */
export interface ResourceMetadata {
  /** The address of this server, as clients know it. */
  readonly resource: string
  readonly authorization_servers: readonly string[]
  readonly scopes_supported?: readonly string[]
  readonly bearer_methods_supported?: readonly string[]
  readonly resource_name?: string
  readonly resource_documentation?: string
  readonly [key: string]: unknown
}

/** Authentication options of a server. */
export interface AuthOptions {
  /** Without it every caller is anonymous, unless the server is mounted in one that authenticates. */
  readonly authenticate?: Authenticate | undefined
  /** Milliseconds that `authenticate` may take; default: 10,000. */
  readonly authenticateTimeout?: number | undefined
  /** Scopes that every request needs. */
  readonly requiredScopes?: readonly string[] | undefined
  /** Served under `/.well-known/oauth-protected-resource`; clients without a token receive its URL. */
  readonly resourceMetadata?: ResourceMetadata | undefined
}

export const AUTH_OPTIONS: OptionsSchema<AuthOptions> = {
  authenticate: "function",
  authenticateTimeout: "duration",
  requiredScopes: { list: "text" },
  resourceMetadata: {
    members: {
      resource: { required: "url" },
      authorization_servers: { required: { list: "text" } },
      scopes_supported: { list: "text" },
      bearer_methods_supported: { list: "text" },
      resource_name: "string",
      resource_documentation: "string",
    },
    open: true,
  },
}

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

const ANONYMOUS: Verdict = { isKnown: true, identity: undefined }
const WELL_KNOWN = "/.well-known/oauth-protected-resource"

/** Authenticates callers, or answers what is missing. */
export class Authenticator {
  readonly #options: AuthOptions
  readonly #logger: Logger
  readonly #metadata: { readonly path: string; readonly url: string } | undefined

  constructor(options: AuthOptions, logger: Logger) {
    this.#options = options
    this.#logger = logger
    this.#metadata = placeOf(options.resourceMetadata)
  }

  /** Whether the caller of a request is authenticated, here or by the application. */
  hasCheckedIdentity(givenCaller: GivenCaller | undefined): boolean {
    return this.#options.authenticate !== undefined || identityGiven(givenCaller) !== undefined
  }

  /** Paths of the metadata, if there is any. */
  get metadataPaths(): readonly string[] {
    return this.#metadata === undefined ? [] : [WELL_KNOWN, this.#metadata.path]
  }

  /** The response to a request for the metadata, which is public; `undefined` for other requests. */
  metadata(method: string, path: string): TextAnswer | undefined {
    if (this.#metadata === undefined) return undefined
    if (path !== WELL_KNOWN && path !== this.#metadata.path) return undefined
    const headers = { "access-control-allow-origin": "*", "cache-control": "max-age=3600" }
    if (method === "GET") {
      return jsonAnswer(200, JSON.stringify(this.#options.resourceMetadata), headers)
    }
    return refuse(405, NOT_SERVED, "Method not allowed.", { headers: { allow: "GET" } })
  }

  /** Authenticates a caller; `resolved` is a caller that the host server has authenticated. */
  admit(
    request: UpgradeRequestLike,
    givenCaller: GivenCaller | undefined,
    resolved?: MCPCaller,
  ): MCPCaller | TextAnswer | Promise<MCPCaller | TextAnswer> {
    if (resolved !== undefined) return this.#checkScopes(resolved)
    const verdict = this.#authenticate(request, givenCaller)
    return verdict instanceof Promise
      ? verdict.then((settled) => this.#decide(request, settled))
      : this.#decide(request, verdict)
  }

  #decide(request: UpgradeRequestLike, verdict: Verdict): MCPCaller | TextAnswer {
    if (verdict.isKnown) return this.#checkScopes(verdict)
    const { reason, outage } = verdict
    const status = outage === undefined ? 401 : statusOf(outage.code)
    this.#logger.info("An MCP request was refused", { status, reason })
    return outage === undefined
      ? this.unauthorized(readBearerToken(request) !== undefined)
      : refuseWith(outage)
  }

  #checkScopes({ identity, expiresAt }: MCPCaller): MCPCaller | TextAnswer {
    const { requiredScopes = [] } = this.#options
    const isAllowed = requiredScopes.every((scope) => identity?.scopes.includes(scope) ?? false)
    return isAllowed ? { identity, expiresAt } : this.#forbidden()
  }

  /** The response to an unauthenticated caller: where to get a token. */
  unauthorized(hasCredential: boolean): TextAnswer {
    const challenge = this.#challenge(hasCredential ? { error: "invalid_token" } : {})
    const message = hasCredential
      ? "Unauthorized: the token is not accepted. Get a new one."
      : "Unauthorized: send a token in the Authorization header."
    return refuse(401, NOT_SERVED, message, { headers: { "www-authenticate": challenge } })
  }

  #authenticate(
    request: UpgradeRequestLike,
    givenCaller: GivenCaller | undefined,
  ): Verdict | Promise<Verdict> {
    const { authenticate, authenticateTimeout = 10_000 } = this.#options
    const givenIdentity = identityGiven(givenCaller)
    if (givenIdentity !== undefined) return toVerdict(givenIdentity, systemClock)
    if (authenticate === undefined) return ANONYMOUS
    return runAuthenticate(authenticate, request, authenticateTimeout, systemClock)
  }

  #forbidden(): TextAnswer {
    const challenge = this.#challenge({ error: "insufficient_scope" })
    const message = `Forbidden: this needs the scopes ${(this.#options.requiredScopes ?? []).join(" ")}.`
    return refuse(403, NOT_SERVED, message, { headers: { "www-authenticate": challenge } })
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

function identityGiven(givenCaller: GivenCaller | undefined): Authenticated | null | undefined {
  if (givenCaller?.identity !== undefined) return givenCaller.identity
  const { authInfo } = givenCaller ?? {}
  if (authInfo === undefined) return undefined
  const subject = authInfo.extra?.["sub"]
  return { id: typeof subject === "string" ? subject : authInfo.clientId, scopes: authInfo.scopes }
}

function quoted(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "").replace(/["\\]/g, "\\$&")
}
