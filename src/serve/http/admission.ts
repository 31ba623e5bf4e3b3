import type { HTTPCaller, HTTPAnswer, Refused, HTTPHeaders } from "../exchange.ts"
import type { RequestSlot } from "../read-body.ts"
import type { CallError } from "../../core/errors.ts"
import type { Identity } from "../../core/types.ts"
import type { KnownCaller } from "../authenticate.ts"
import type { Account } from "../accounts.ts"

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
