import { refusal, type CallError } from "../../core/errors.ts"
import { retryAfterOf, statusOf } from "../../core/problem.ts"
import { reportMissing } from "../../internal/import-peer.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Identity } from "../../core/types.ts"
import { Accounts, type Account, type LimitOptions } from "../accounts.ts"
import type { RequestSlot } from "../read-body.ts"
import { ANONYMOUS, runAuthenticate, toVerdict } from "../authenticate.ts"
import type { Authenticate, KnownCaller, Verdict } from "../authenticate.ts"
import { readCredential, type UpgradeRules } from "../upgrade.ts"
import { isLoopback } from "../../internal/unencrypted.ts"
import type { HTTPAnswer, HTTPCaller, HTTPHeaders, HTTPIncoming, Refused } from "../exchange.ts"
import { createAuthenticate } from "./auth/authenticator.ts"
import type { AuthOptions } from "./auth/options.ts"
import { loadJose } from "../../internal/jose.ts"
import { checkMedia } from "../negotiate.ts"
import { Sources, type CorsOptions } from "./allowed-origins.ts"

/** Options of a guard. */
export interface GuardOptions extends UpgradeRules, LimitOptions {
  /** Authentication by API keys and signed tokens; or use `authenticate`. */
  readonly auth?: AuthOptions | undefined
  readonly authenticate?: Authenticate | undefined
  /** Milliseconds that authentication may take; default: 10,000. */
  readonly authenticateTimeout?: number | undefined
  /** Allows pages of these origins to read responses; default: none. */
  readonly cors?: CorsOptions | undefined
}

/** Throws a `TypeError` for an address that other machines can reach without authentication. */
export function checkListenAddress(host: string, guard: Pick<Guard, "isAuthenticated">): void {
  if (guard.isAuthenticated || isLoopback(host)) return
  throw new TypeError(
    `serveHTTP({ host }): "${host}" can be reached from other machines. Give auth or authenticate; ` +
      "authenticate: () => null lets everyone in, anonymously.",
  )
}

/** Decides which requests are admitted, and authenticates them. */
export class Guard {
  /** Loads the optional packages of authentication; rejects with a `MissingPackage`. */
  readonly packagesLoaded: Promise<unknown> | undefined
  isPackageMissing = false
  readonly authenticate: Authenticate | undefined
  /** Accounts of callers; WebSocket calls count there, too. */
  readonly accounts: Accounts
  readonly #timeout: number | undefined
  readonly #sources: Sources
  readonly #clock: Clock
  readonly #logger: Logger

  /** Throws a `TypeError` for invalid options. */
  constructor(options: GuardOptions, clock: Clock, logger: Logger) {
    const { auth, authenticate } = options
    if (auth !== undefined && authenticate !== undefined) {
      throw new TypeError("Give either auth or authenticate; auth takes a function too.")
    }
    this.authenticate = auth === undefined ? authenticate : createAuthenticate(auth, clock)
    if (auth?.jwt !== undefined) {
      this.packagesLoaded = loadJose("auth.jwt")
      reportMissing(this.packagesLoaded, (message) => {
        this.isPackageMissing = true
        logger.error(message)
      })
    }
    this.#timeout = options.authenticateTimeout
    this.#sources = new Sources(options, this.isAuthenticated)
    this.accounts = new Accounts(options, clock)
    this.#clock = clock
    this.#logger = logger
    if (options.cors?.origins.includes("*") === true && !this.isAuthenticated) {
      logger.warn('cors allows "*" without authentication: every web page can call')
    }
  }

  /** Callers have to authenticate. */
  get isAuthenticated(): boolean {
    return this.authenticate !== undefined
  }

  /** Allowed hosts and origins, including those of `cors`. */
  get rules(): UpgradeRules {
    return this.#sources.rules
  }

  /** Refuses requests from hosts or origins that are not allowed; any page may link to public paths. */
  checkSource(incoming: HTTPIncoming, isPublic: boolean): Refused | undefined {
    const reason = this.#sources.check(incoming, isPublic)
    if (reason === undefined) return undefined
    const error = refusal("ACCESS_DENIED", `Refused: ${reason}.`)
    return this.#refuse(403, error, this.#sources.headersFor(incoming), reason)
  }

  /**
   * Authenticates and admits a request; synchronously if possible. Never throws or rejects.
   * A mount may accept bodies other than JSON, and a public mount admits everyone. `takesFiles` is for paths that
   * take other bodies.
   */
  admit(
    incoming: HTTPIncoming,
    mount?: { readonly isPublic: boolean },
    takesFiles?: boolean,
  ): Admission | Promise<Admission> {
    const refused = this.checkSource(incoming, mount?.isPublic === true)
    if (refused !== undefined) return refused
    const headers = this.#sources.headersFor(incoming)
    const preflight = this.#sources.preflight(incoming)
    if (preflight !== undefined) return { kind: "answered", answer: preflight }
    const issue = mount === undefined ? checkMedia(incoming, takesFiles) : undefined
    if (issue !== undefined) {
      return this.#refuse(415, refusal("VALIDATION_ERROR", issue), headers, issue)
    }
    if (mount?.isPublic === true) return this.#enter(incoming, ANONYMOUS, headers)
    const verdict =
      incoming.identity === undefined
        ? runAuthenticate(this.authenticate, incoming.like, this.#timeout, this.#clock)
        : toVerdict(incoming.identity, this.#clock)
    return verdict instanceof Promise
      ? verdict.then((settled) => this.#decide(incoming, settled, headers))
      : this.#decide(incoming, verdict, headers)
  }

  #decide(incoming: HTTPIncoming, verdict: Verdict, headers: HTTPHeaders): Admission {
    if (verdict.isKnown) return this.#enter(incoming, verdict, headers)
    const { reason, outage } = verdict
    if (outage !== undefined) {
      const cause = outage.cause instanceof Error ? outage.cause.message : undefined
      // What retrying does not help was reported when the server was created.
      if (outage.retryable) {
        this.#logger.warn("Callers cannot be authenticated at the moment", { reason, cause })
      }
      return this.#refuse(statusOf(outage.code), outage, headers, reason)
    }
    // Only failed attempts are charged to the address, which others may share.
    const unpaid = this.accounts.of(undefined, incoming.like).charge(1)
    if (unpaid !== undefined) return this.#refuse(429, unpaid, headers, reason)
    const { isPresent } = readCredential(incoming.like)
    const error = refusal(
      "UNAUTHENTICATED",
      isPresent
        ? "The credential is not accepted. Get a new one."
        : "Authenticate: send a token in the Authorization header, or a key in X-API-Key.",
    )
    const challenge = isPresent ? 'Bearer error="invalid_token"' : "Bearer"
    return this.#refuse(401, error, { ...headers, "www-authenticate": challenge }, reason)
  }

  #enter(incoming: HTTPIncoming, caller: KnownCaller, headers: HTTPHeaders): Admission {
    const account = this.accounts.of(caller.identity, incoming.like)
    const error = account.enter()
    if (error !== undefined) return this.#refuse(429, error, headers, error.message)
    const admitted = new Admitted(caller, headers, account)
    incoming.slot = admitted
    return admitted
  }

  #refuse(status: number, error: CallError, headers: HTTPHeaders, reason: string): Refused {
    this.#logger.info("An HTTP request was refused", { status, reason })
    return { kind: "refused", status, error, headers: { ...headers, ...retryAfterOf(error) } }
  }
}

/** A request that was answered without a route. */
export interface Answered {
  readonly kind: "answered"
  readonly answer: HTTPAnswer
}

export type Admission = Admitted | Refused | Answered

/** An admitted request: its caller, and its slots and charges until it is released. */
export class Admitted implements HTTPCaller, RequestSlot {
  readonly kind = "admitted"
  readonly identity: Identity | undefined
  readonly expiresAt: number | undefined
  /** Headers to add to any response. */
  readonly headers: HTTPHeaders
  readonly #account: Account
  #slots = 1
  #isPaused = false
  /** The request has become a stream. */
  isStream = false

  constructor({ identity, expiresAt }: KnownCaller, headers: HTTPHeaders, account: Account) {
    this.identity = identity
    this.expiresAt = expiresAt
    this.headers = headers
    this.#account = account
  }

  get account(): string {
    return this.#account.key
  }

  charge(calls = 1): CallError | undefined {
    // The request itself has paid for one.
    return calls > 0 ? this.#account.charge(calls, 1) : undefined
  }

  onRevoked(listener: () => void): () => void {
    return this.#account.onRevoked(listener)
  }

  pause(): void {
    if (this.#slots !== 1) return
    this.#slots = 0
    this.#isPaused = true
    this.#account.pause()
  }

  resume(): CallError | undefined {
    if (!this.#isPaused) return undefined
    this.#isPaused = false
    const full = this.#account.resume()
    if (full === undefined) this.#slots = 1
    return full
  }

  takeSlots(most: number): number {
    if (this.#slots === 0) return 0
    const taken = this.#account.takeSlots(most)
    this.#slots += taken
    return taken
  }

  openStream(): CallError | undefined {
    if (this.#slots === 0) return undefined
    const full = this.#account.openStream()
    if (full !== undefined) return full
    this.isStream = true
    this.#leave()
    return undefined
  }

  /** Frees everything when the response is complete. Calling it twice is fine. */
  release(): void {
    if (this.isStream) this.#account.closeStream()
    this.isStream = false
    if (this.#isPaused) this.#account.giveUp()
    this.#isPaused = false
    this.#leave()
  }

  #leave(): void {
    for (; this.#slots > 0; this.#slots--) this.#account.leave()
  }
}
