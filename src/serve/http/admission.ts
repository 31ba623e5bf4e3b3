import type { CallError } from "../../core/errors.ts"
import type { Identity } from "../../core/types.ts"
import type { Account } from "../accounts.ts"
import type { HTTPAnswer, RequestSlot } from "../exchange.ts"
import type { Refused } from "../exchange.ts"

/** An authenticated caller and its expiry. */
export interface AuthenticatedCaller {
  readonly identity: Identity | undefined
  readonly expiresAt?: number | undefined
}

/** An admitted request. */
export interface Admitted {
  readonly kind: "admitted"
  readonly identity: Identity | undefined
  /** Expiry of the identity in epoch milliseconds. */
  readonly expiresAt: number | undefined
  /** Headers to add to any response. */
  readonly headers: Readonly<Record<string, string>>
  /** Charges for calls beyond the request itself; returns an error when they are over the limit. */
  charge(calls?: number): CallError | undefined
  /** Counts the request as a stream; returns an error when there are too many. */
  openStream(): CallError | undefined
  /** Key of the account that is charged: an identity or an address. */
  readonly account: string
  /** Takes slots for further concurrent calls; returns how many were free. */
  takeSlots(most: number): number
  /** The request has become a stream. */
  readonly isStream: boolean
  /** Frees everything when the response is complete. Calling it twice is fine. */
  release(): void
}

/** A request that was answered without a route. */
export interface Answered {
  readonly kind: "answered"
  readonly answer: HTTPAnswer
}

export type Admission = Admitted | Refused | Answered

/** Slots and charges of an admitted request, until it is released. */
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
