import type { HTTPHeaders } from "./exchange.ts"
import { retryAfterOf, statusOf } from "../core/problem.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import { SUBPROTOCOL, TOKEN_PREFIX } from "../transport/websocket/subprotocols.ts"
import type { Accounts } from "./accounts.ts"
import {
  runAuthenticate,
  type Authenticate,
  type KnownCaller,
  type Verdict,
} from "./authenticate.ts"
import { checkUpgrade, pathOf } from "./upgrade.ts"
import type { UpgradeRefusal, UpgradeRequestLike, UpgradeRules } from "./upgrade.ts"

/** Options of a `Gate`. */
export interface GateOptions extends UpgradeRules {
  readonly authenticate?: Authenticate | undefined
  readonly authenticateTimeout?: number | undefined
  readonly maxConnections?: number | undefined
  readonly maxConnectionsPerCaller?: number | undefined
}

/** The callback of `ws` that takes the decision. */
type Decide = (isAllowed: boolean, status?: number, message?: string, headers?: HTTPHeaders) => void

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
  readonly #callers = new WeakMap<UpgradeRequestLike, KnownCaller>()
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

  /** The caller of an admitted request. */
  callerOf(request: UpgradeRequestLike): KnownCaller | undefined {
    return this.#callers.get(request)
  }

  /** `verifyClient` of `ws`. It must declare two parameters: `ws` checks its length. */
  readonly verify = (info: { readonly req: UpgradeRequestLike }, decide: Decide): void => {
    const { req: request } = info
    const refused = this.#refuse(request)
    if (refused !== undefined) return this.#reject(refused, decide)
    const { authenticate, authenticateTimeout } = this.#options
    const verdict = runAuthenticate(authenticate, request, authenticateTimeout, this.#clock)
    if (!(verdict instanceof Promise)) return this.#decide(request, verdict, decide)
    this.#waiting++
    // Never rejects.
    void verdict.then((settled) => {
      this.#waiting--
      this.#decide(request, settled, decide)
    })
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

  #decide(request: UpgradeRequestLike, verdict: Verdict, decide: Decide): void {
    if (this.isClosed) this.#reject(CLOSING, decide)
    else if (verdict.isKnown) this.#admit(request, verdict, decide)
    else {
      const { reason, outage } = verdict
      // Only failed attempts are charged to the address, which others may share.
      const error = outage ?? this.#accounts.of(undefined, request).charge(1)
      const status = error === undefined ? 401 : statusOf(error.code)
      this.#reject({ status, reason, retryAfterMs: error?.retryAfterMs }, decide)
    }
  }

  /** Admits a caller, unless it has too many connections. `ws` opens the connection within `decide`. */
  #admit(request: UpgradeRequestLike, caller: KnownCaller, decide: Decide): void {
    const { maxConnectionsPerCaller: most = 50 } = this.#options
    if (this.#accounts.of(caller.identity, request).sockets >= most) {
      const reason = `the caller has ${most} connections already`
      this.#reject({ status: 429, reason, retryAfterMs: 1000 }, decide)
      return
    }
    this.#callers.set(request, caller)
    decide(true)
  }

  #reject({ status, reason, retryAfterMs }: UpgradeRefusal, decide: Decide): void {
    this.#logger.info("A WebSocket upgrade was refused", { status, reason })
    if (retryAfterMs === undefined) decide(false, status)
    else decide(false, status, undefined, retryAfterOf({ retryAfterMs }))
  }
}

const CLOSING: UpgradeRefusal = { status: 503, reason: "the server is closing" }

/** Chooses the subprotocol. Never the one that carries a token: it would be sent back. */
export function chooseProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(SUBPROTOCOL)) return SUBPROTOCOL
  return [...offered].find((name) => !name.startsWith(TOKEN_PREFIX)) ?? false
}
