// What each caller of a server has running and open, and the limits of it.
import { refusal, type CallError } from "../core/errors.ts"
import type { OptionsSchema } from "../internal/options.ts"
import type { Clock } from "../internal/platform.ts"
import type { CallAccount, WaitingCall } from "../protocol/server/account.ts"
import type { Identity } from "../core/types.ts"
import { callerAddress, canonicalAddress, networkOf } from "./caller-address.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

/** Rate limit of each caller. */
export interface RateLimitOptions {
  readonly perSecond: number
  /** Calls that an idle caller may make at once; default: `perSecond`, at least 1. */
  readonly burst?: number | undefined
}

export const RATE_LIMIT_OPTIONS: OptionsSchema<RateLimitOptions> = {
  perSecond: { required: { min: 0 } },
  burst: "count",
}

/** Limits of each caller. */
export interface LimitOptions {
  /** Rate limit of each caller; default: no limit. */
  readonly rateLimit?: RateLimitOptions | undefined
  /** Concurrent requests and calls of a caller, over all of its connections; default: 100. */
  readonly maxConcurrency?: number | undefined
  /** Concurrent HTTP streams of a caller; default: 20. */
  readonly maxStreams?: number | undefined
  /** Addresses of proxies whose `X-Forwarded-For` is trusted; default: none. */
  readonly trustedProxies?: readonly string[] | undefined
}

// Number of accounts above which those of idle callers are removed.
const MANY = 10_000
const SLOT_RETRY_MS = 1000
// Requests with incoming bodies per concurrent request: they hold memory and a connection.
const RECEIVING_PER_SLOT = 10

/** Limits of all accounts. */
interface Terms {
  readonly clock: Clock
  readonly perMs: number
  readonly burst: number
  readonly maxConcurrency: number
  readonly maxStreams: number
}

/** One account per caller: an identity, or an address for anonymous callers. */
export class Accounts {
  readonly #accounts = new Map<string, Account>()
  readonly #terms: Terms
  readonly #proxies: ReadonlySet<string>
  #sweepAt = MANY

  constructor(options: LimitOptions, clock: Clock) {
    const { rateLimit, maxConcurrency = 100, maxStreams = 20, trustedProxies = [] } = options
    const { perSecond, burst } = rateLimit ?? { perSecond: Number.POSITIVE_INFINITY }
    if (rateLimit !== undefined && !(Number.isFinite(perSecond) && perSecond > 0)) {
      throw new TypeError(
        "rateLimit.perSecond must be a number above 0; leave rateLimit out for none.",
      )
    }
    this.#proxies = new Set(trustedProxies.map(canonicalAddress))
    this.#terms = {
      clock,
      perMs: perSecond / 1000,
      burst: burst ?? Math.max(1, Math.ceil(perSecond)),
      maxConcurrency,
      maxStreams,
    }
  }

  /** Number of accounts. */
  get size(): number {
    return this.#accounts.size
  }

  /** The account of a caller; the same object while anything in it counts. */
  of(identity: Identity | undefined, request: UpgradeRequestLike): Account {
    return this.named(accountKey(identity, request, this.#proxies))
  }

  named(key: string): Account {
    const existing = this.#accounts.get(key)
    if (existing !== undefined) return existing
    if (this.#accounts.size >= this.#sweepAt) this.#sweep()
    const account = new Account(key, this.#terms)
    this.#accounts.set(key, account)
    return account
  }

  /** Ends what a caller has open: its credential was taken away. */
  revoke(identity: string): void {
    this.#accounts.get(`id ${identity}`)?.revoke()
  }

  #sweep(): void {
    for (const [key, account] of this.#accounts) {
      if (account.isIdle()) this.#accounts.delete(key)
    }
    // Doubled, so that many busy accounts are not scanned for each new one.
    this.#sweepAt = Math.max(MANY, this.#accounts.size * 2)
  }
}

/** The key of an account: an identity; for anonymous callers an IPv4 address or an IPv6 /64. */
export function accountKey(
  identity: Identity | undefined,
  request: UpgradeRequestLike,
  proxies: ReadonlySet<string> = NONE,
): string {
  if (identity !== undefined) return `id ${identity.id}`
  if (proxies.size > 0) return `at ${networkOf(callerAddress(request, proxies))}`
  const remote = request.socket?.remoteAddress
  if (remote !== lastRemote) {
    lastKey = `at ${networkOf(callerAddress(request, proxies))}`
    lastRemote = remote
  }
  return lastKey
}

// Cached: most requests come from the same address as the previous one.
let lastRemote: string | undefined
let lastKey = "at "

const NONE: ReadonlySet<string> = new Set()

/** Usage of one caller, over all of its requests and connections. */
export class Account implements CallAccount {
  readonly key: string
  /** Open WebSockets. */
  sockets = 0
  readonly #terms: Terms
  #tokens: number
  /** Time at which `#tokens` was computed. */
  #at: number
  #running = 0
  #receiving = 0
  #streams = 0
  #socketStreams = 0
  /** WebSocket calls that wait for a slot, with the concurrency below which each may start. */
  readonly #queue = new Map<WaitingCall, number>()
  readonly #whenRevoked = new Set<() => void>()

  constructor(key: string, terms: Terms) {
    this.key = key
    this.#terms = terms
    this.#tokens = terms.burst
    this.#at = terms.clock.now()
  }

  /** Whether the account can be removed without giving its caller an advantage. */
  isIdle(): boolean {
    const { perMs, burst } = this.#terms
    if (this.#running + this.#receiving + this.#streams + this.#socketStreams > 0) return false
    if (this.sockets + this.#queue.size + this.#whenRevoked.size > 0) return false
    if (perMs !== Number.POSITIVE_INFINITY) this.#refill()
    return this.#tokens >= burst
  }

  /** Calls back when the credential of the caller is taken away. Returns a function that unsubscribes. */
  onRevoked(listener: () => void): () => void {
    this.#whenRevoked.add(listener)
    return () => this.#whenRevoked.delete(listener)
  }

  revoke(): void {
    for (const listener of [...this.#whenRevoked]) listener()
  }

  /** Charges for calls; `paid` is what their request has paid before. */
  charge(calls: number, paid = 0): CallError | undefined {
    const { perMs, burst } = this.#terms
    if (perMs === Number.POSITIVE_INFINITY) return undefined
    if (calls + paid > burst) {
      return refusal(
        "PAYLOAD_TOO_LARGE",
        `The request has ${calls + paid} calls, and callers may make at most ${burst} at once. Send fewer.`,
        { details: { burst } },
      )
    }
    this.#refill()
    if (this.#tokens >= calls) {
      this.#tokens -= calls
      return undefined
    }
    const retryAfterMs = Math.ceil((calls - this.#tokens) / perMs)
    return refusal("RATE_LIMITED", `More than ${perMs * 1000} calls per second. Wait a little.`, {
      retryAfterMs: Math.max(1, retryAfterMs),
    })
  }

  /** Charges for a request and takes a slot, which `leave` frees. */
  enter(): CallError | undefined {
    const { maxConcurrency } = this.#terms
    if (this.#running >= maxConcurrency) {
      return tooMany(maxConcurrency)
    }
    if (this.#receiving >= maxConcurrency * RECEIVING_PER_SLOT) {
      return busy(`The bodies of ${this.#receiving} requests have not arrived yet. Wait for them.`)
    }
    const unpaid = this.charge(1)
    if (unpaid === undefined) this.#running++
    return unpaid
  }

  /** Frees the slot of a request while its body arrives, until `resume` or `giveUp`. */
  pause(): void {
    this.#receiving++
    this.leave()
  }

  /** Takes a slot again; returns an error when there is none. */
  resume(): CallError | undefined {
    this.#receiving--
    const { maxConcurrency } = this.#terms
    return this.tryEnter(maxConcurrency) ? undefined : tooMany(maxConcurrency)
  }

  /** Ends a paused request whose body does not arrive. */
  giveUp(): void {
    this.#receiving--
  }

  /** Takes further free slots, up to `most`; call `leave` for each of them. */
  takeSlots(most: number): number {
    const taken = Math.max(0, Math.min(most, this.#terms.maxConcurrency - this.#running))
    this.#running += taken
    return taken
  }

  tryEnter(most: number): boolean {
    if (this.#running >= most || this.#running >= this.#terms.maxConcurrency) return false
    this.#running++
    return true
  }

  leave(): void {
    this.#running--
    if (this.#queue.size > 0) this.#startNext()
  }

  enqueue(call: WaitingCall, most: number, mostQueued: number): boolean {
    if (this.#queue.size >= mostQueued) return false
    this.#queue.set(call, most)
    return true
  }

  dequeue(call: WaitingCall): void {
    this.#queue.delete(call)
  }

  /** Takes a slot for an HTTP stream, which `closeStream` frees. */
  openStream(): CallError | undefined {
    const { maxStreams } = this.#terms
    if (this.#streams >= maxStreams) {
      return busy(`${maxStreams} streams are open already. Close one of them.`)
    }
    this.#streams++
    return undefined
  }

  closeStream(): void {
    this.#streams--
  }

  tryStream(most: number): boolean {
    if (this.#streams + this.#socketStreams >= most) return false
    this.#socketStreams++
    return true
  }

  leaveStream(): void {
    this.#socketStreams--
  }

  /** Starts the call that has waited longest. */
  #startNext(): void {
    for (const [call, most] of this.#queue) {
      if (!this.tryEnter(most)) return
      this.#queue.delete(call)
      if (call.start()) return
      // Its connection is closing.
      this.#running--
    }
  }

  #refill(): void {
    const { clock, perMs, burst } = this.#terms
    const now = clock.now()
    // A clock that was set back has no effect.
    const elapsed = Math.max(0, now - this.#at)
    this.#tokens = Math.min(burst, this.#tokens + elapsed * perMs)
    this.#at = now
  }
}

function tooMany(running: number): CallError {
  return busy(`${running} requests are running already. Wait for one of them.`)
}

function busy(message: string): CallError {
  return refusal("RATE_LIMITED", message, { retryAfterMs: SLOT_RETRY_MS })
}
