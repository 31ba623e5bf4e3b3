import type { CallError } from "../../core/errors.ts"
import type { Identity } from "../../core/types.ts"
import type { Account } from "../accounts.ts"
import type { HTTPAnswer, RequestSlot } from "../exchange.ts"
import type { Refused } from "../exchange.ts"

/** Who calls, and for how long that holds. */
export interface AuthenticatedCaller {
  readonly identity: Identity | undefined
  readonly expiresAt?: number | undefined
}

/** A request that is let in. */
export interface Admitted {
  readonly kind: "admitted"
  readonly identity: Identity | undefined
  /** Epoch milliseconds from which on the identity holds no more. */
  readonly expiresAt: number | undefined
  /** Belong on the answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>
  /** Pays for calls beyond the one that the request itself is; gives why they may not be. */
  charge(calls?: number): CallError | undefined
  /** Makes the request a stream, which counts among streams; gives why it may not be one. */
  openStream(): CallError | undefined
  /** Whose account the request counts on: an identity or an address. */
  readonly account: string
  /** Takes slots for calls that run beside the first; gives how many were free. */
  takeSlots(most: number): number
  /** Whether the request has become a stream. */
  readonly isStream: boolean
  /** The answer is over. Calling it twice is fine. */
  release(): void
}

/** A request that needs nothing else. */
export interface Answered {
  readonly kind: "answered"
  readonly answer: HTTPAnswer
}

export type Admission = Admitted | Refused | Answered

/** What a request that is let in holds, until it is released. */
export class Entrance implements Admitted, RequestSlot {
  readonly kind = "admitted"
  readonly identity: Identity | undefined
  readonly expiresAt: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly #account: Account
  #slots = 1
  #isPaused = false
  isStream = false

  constructor(
    { identity, expiresAt }: AuthenticatedCaller,
    headers: Readonly<Record<string, string>>,
    account: Account,
  ) {
    this.identity = identity
    this.expiresAt = expiresAt
    this.headers = headers
    this.#account = account
  }

  get account(): string {
    return this.#account.key
  }

  charge(calls = 1): CallError | undefined {
    return calls > 0 ? this.#account.charge(calls) : undefined
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
