import { ERROR_CODES, isCallError } from "../core/errors.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import { SUBPROTOCOL, TOKEN_PREFIX } from "../transport/websocket/dial.ts"
import type { Accounts } from "./accounts.ts"
import { authenticatedInTime, isIdentity, splitExpiry } from "./authenticated.ts"
import type { Authenticated, Holder } from "./authenticated.ts"
import { checkUpgrade, pathOf } from "./upgrade.ts"
import type { UpgradeRefusal, UpgradeRequestLike, UpgradeRules } from "./upgrade.ts"

/**
 * Authenticates a request: returns an identity, `null` for an anonymous caller, or `undefined` to refuse.
 *
 * An identity with `expiresAt`, in epoch milliseconds, is valid until then: connections and streams end
 * with it. Throwing refuses as well. Clients receive only a 401, or a 429 or 503 for a
 * `CallError` with the code `RATE_LIMITED`, `UNAVAILABLE` or `OVERLOADED`.
 */
export type Authenticate = (
  request: UpgradeRequestLike,
) => Authenticated | null | undefined | Promise<Authenticated | null | undefined>

/** Options of a `Gate`. */
export interface GateOptions extends UpgradeRules {
  readonly authenticate?: Authenticate | undefined
  readonly authenticateTimeout?: number | undefined
  readonly maxConnections?: number | undefined
  readonly maxConnectionsPerCaller?: number | undefined
}

/** The callback of `ws` that takes the decision. */
type Decide = (
  isAllowed: boolean,
  status?: number,
  message?: string,
  headers?: Readonly<Record<string, string>>,
) => void

/** Decides which upgrades become connections, and authenticates them. */
export class Gate {
  /** The only path that accepts upgrades. */
  onlyPath: string | undefined
  isClosed = false
  readonly #options: GateOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #connections: () => number
  readonly #accounts: Accounts
  readonly #holders = new WeakMap<UpgradeRequestLike, Holder>()
  #waiting = 0

  constructor(
    options: GateOptions,
    clock: Clock,
    logger: Logger,
    connections: () => number,
    accounts: Accounts,
  ) {
    this.#accounts = accounts
    this.#options = options
    this.#clock = clock
    this.#logger = logger
    this.#connections = connections
  }

  /** The identity of an admitted request. */
  holderOf(request: UpgradeRequestLike): Holder | undefined {
    return this.#holders.get(request)
  }

  /** `verifyClient` of `ws`. It must declare two parameters: `ws` checks its length. */
  readonly verify = (info: { readonly req: UpgradeRequestLike }, decide: Decide): void => {
    const { req: request } = info
    const refused = this.#refuse(request)
    if (refused !== undefined) {
      this.#reject(refused, decide)
      return
    }
    if (this.#options.authenticate === undefined) {
      this.#admit(request, null, decide)
      return
    }
    // Never rejects.
    void this.#authenticate(request, this.#options.authenticate, decide)
  }

  #refuse(request: UpgradeRequestLike): UpgradeRefusal | undefined {
    const { maxConnections = 10_000 } = this.#options
    if (this.isClosed) return CLOSING
    if (this.onlyPath !== undefined && pathOf(request) !== this.onlyPath) {
      return { status: 404, reason: "nothing is served under this path" }
    }
    // Pending upgrades count, too: they hold a socket.
    if (this.#connections() + this.#waiting >= maxConnections) {
      return { status: 503, reason: `${maxConnections} clients are connected already` }
    }
    return checkUpgrade(request, this.#options)
  }

  async #authenticate(
    request: UpgradeRequestLike,
    authenticate: Authenticate,
    decide: Decide,
  ): Promise<void> {
    this.#waiting++
    const outcome = await this.#find(request, authenticate)
    this.#waiting--
    const refused = this.isClosed ? CLOSING : "status" in outcome ? outcome : undefined
    if (refused !== undefined) {
      this.#reject(refused, decide)
      return
    }
    this.#admit(request, (outcome as { readonly holder: Holder | null }).holder, decide)
  }

  /** Admits a caller, unless it has too many connections. `ws` opens the connection within `decide`. */
  #admit(request: UpgradeRequestLike, holder: Holder | null, decide: Decide): void {
    const { maxConnectionsPerCaller: most = 50 } = this.#options
    if (this.#accounts.of(holder?.identity, request).sockets >= most) {
      const reason = `the caller has ${most} connections already`
      this.#reject({ status: 429, reason, retryAfterMs: 1000 }, decide)
      return
    }
    if (holder !== null) this.#holders.set(request, holder)
    decide(true)
  }

  async #find(
    request: UpgradeRequestLike,
    authenticate: Authenticate,
  ): Promise<UpgradeRefusal | { readonly holder: Holder | null }> {
    const { authenticateTimeout = 10_000 } = this.#options
    try {
      const result = authenticate(request)
      const identity = await authenticatedInTime(result, authenticateTimeout, this.#clock)
      if (identity === undefined) return { status: 401, reason: "authenticate found no identity" }
      if (identity === null) return { holder: null }
      if (isIdentity(identity)) {
        const holder = splitExpiry(identity, this.#clock)
        return typeof holder === "string" ? { status: 401, reason: holder } : { holder }
      }
      this.#logger.error("authenticate must return an identity { id, scopes }, null or undefined")
      return { status: 401, reason: "authenticate returned no identity" }
    } catch (error) {
      return refusalFor(error)
    }
  }

  #reject({ status, reason, retryAfterMs }: UpgradeRefusal, decide: Decide): void {
    this.#logger.info("A WebSocket upgrade was refused", { status, reason })
    if (retryAfterMs === undefined) decide(false, status)
    else {
      const seconds = String(Math.max(1, Math.ceil(retryAfterMs / 1000)))
      decide(false, status, undefined, { "Retry-After": seconds })
    }
  }
}

/** Codes of refusals that are not about the identity. */
const PASSING: readonly string[] = ["RATE_LIMITED", "UNAVAILABLE", "OVERLOADED"]

function refusalFor(error: unknown): UpgradeRefusal {
  const reason = error instanceof Error ? error.message : String(error)
  if (!isCallError(error) || !PASSING.includes(error.code)) return { status: 401, reason }
  const { httpStatus } = ERROR_CODES[error.code as "UNAVAILABLE"]
  return { status: httpStatus, reason, retryAfterMs: error.retryAfterMs }
}

const CLOSING: UpgradeRefusal = { status: 503, reason: "the server is closing" }

/** Chooses the subprotocol. Never the one that carries a token: it would be sent back. */
export function chooseProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(SUBPROTOCOL)) return SUBPROTOCOL
  return [...offered].find((name) => !name.startsWith(TOKEN_PREFIX)) ?? false
}
