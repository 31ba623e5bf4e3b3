import { setRef } from "../internal/defer.ts"
import type { Logger } from "../logger.ts"
import type { Clock } from "../platform.ts"
import { SUBPROTOCOL, TOKEN_PREFIX } from "../transport/dial.ts"
import type { Identity } from "../types.ts"
import { checkUpgrade, pathOf } from "./upgrade.ts"
import type { UpgradeRefusal, UpgradeRequestLike, UpgradeRules } from "./upgrade.ts"

/**
 * Finds out who connects: an identity; `null` for nobody in particular; `undefined` to refuse.
 *
 * What it throws refuses as well. Clients hear 401 and nothing else.
 */
export type Authenticate = (
  request: UpgradeRequestLike,
) => Identity | null | undefined | Promise<Identity | null | undefined>

/** What the gate goes by. */
export interface GateOptions extends UpgradeRules {
  readonly authenticate?: Authenticate | undefined
  readonly authenticateTimeout?: number | undefined
  readonly maxConnections?: number | undefined
}

/** How `ws` is told of the decision. */
type Decide = (isAllowed: boolean, status?: number) => void

/** Decides which upgrades become connections, and whose they are. */
export class Gate {
  /** The only path that is answered. */
  onlyPath: string | undefined
  isClosed = false
  readonly #options: GateOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #connections: () => number
  readonly #identities = new WeakMap<UpgradeRequestLike, Identity>()
  #waiting = 0

  constructor(options: GateOptions, clock: Clock, logger: Logger, connections: () => number) {
    this.#options = options
    this.#clock = clock
    this.#logger = logger
    this.#connections = connections
  }

  /** Who was found to be behind a request that was let in. */
  identityOf(request: UpgradeRequestLike): Identity | undefined {
    return this.#identities.get(request)
  }

  /** `verifyClient` of `ws`, which asks in its own way whether it takes one argument or two. */
  readonly verify = (info: { readonly req: UpgradeRequestLike }, decide: Decide): void => {
    const { req: request } = info
    const refused = this.#refuse(request)
    if (refused !== undefined) {
      this.#turnAway(refused, decide)
      return
    }
    if (this.#options.authenticate === undefined) {
      decide(true)
      return
    }
    // Settled in there, whatever happens.
    void this.#authenticate(request, this.#options.authenticate, decide)
  }

  #refuse(request: UpgradeRequestLike): UpgradeRefusal | undefined {
    const { maxConnections = Number.POSITIVE_INFINITY } = this.#options
    if (this.isClosed) return CLOSING
    if (this.onlyPath !== undefined && pathOf(request) !== this.onlyPath) {
      return { status: 404, reason: "nothing is served under this path" }
    }
    // Those who are still being looked at count: they hold a socket too.
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
    const found = await this.#find(request, authenticate)
    this.#waiting--
    const refused = this.isClosed ? CLOSING : "status" in found ? found : undefined
    if (refused !== undefined) {
      this.#turnAway(refused, decide)
      return
    }
    const { identity } = found as { readonly identity: Identity | null }
    if (identity !== null) this.#identities.set(request, identity)
    decide(true)
  }

  async #find(
    request: UpgradeRequestLike,
    authenticate: Authenticate,
  ): Promise<UpgradeRefusal | { readonly identity: Identity | null }> {
    const { authenticateTimeout = 10_000 } = this.#options
    let timer: unknown
    const late = new Promise<never>((_, reject) => {
      timer = this.#clock.setTimeout(
        () => reject(new Error(`authenticate took more than ${authenticateTimeout} ms`)),
        authenticateTimeout,
      )
      setRef(timer, false)
    })
    try {
      const identity = await Promise.race([authenticate(request), late])
      if (identity === undefined) return { status: 401, reason: "authenticate found nobody" }
      if (identity === null || isIdentity(identity)) return { identity }
      this.#logger.error("authenticate must give an identity { id, scopes }, null or undefined")
      return { status: 401, reason: "authenticate gave no identity" }
    } catch (error) {
      return { status: 401, reason: error instanceof Error ? error.message : String(error) }
    } finally {
      this.#clock.clearTimeout(timer)
    }
  }

  #turnAway({ status, reason }: UpgradeRefusal, decide: Decide): void {
    this.#logger.info("A WebSocket upgrade was refused", { status, reason })
    decide(false, status)
  }
}

const CLOSING: UpgradeRefusal = { status: 503, reason: "the server is closing" }

/** The subprotocol to agree on. Never the one that carries a token: it would be sent back. */
export function chooseProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(SUBPROTOCOL)) return SUBPROTOCOL
  return [...offered].find((name) => !name.startsWith(TOKEN_PREFIX)) ?? false
}

function isIdentity(value: Identity): boolean {
  const { id, scopes } = value as Partial<Identity>
  return typeof id === "string" && Array.isArray(scopes)
}
