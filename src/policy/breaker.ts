import type { BreakerState, BreakerStatus, Protected } from "../core/policy-state.ts"
import type { BreakerPolicy } from "../core/resilience.ts"
import type { Clock } from "../internal/platform.ts"

/** The result of a call for the breaker; `neutral` if it says nothing about the called system. */
export type Outcome = "success" | "failure" | "neutral"

/** The window moves in tenths. */
const SLOTS = 10
/** The open time grows to at most this many times the first one. */
const MAX_OPEN_TIMES = 10

/** The ticket of a refused call. */
export const REFUSED = -1

/**
 * A circuit breaker. Opens when too many of the last calls failed, then lets probes through until they succeed.
 *
 * Every ticket from `enter` must be returned with `leave`.
 */
export class Breaker {
  readonly protects: Protected
  /** The code of the last failure. */
  lastCode: string | undefined
  readonly #settings: Readonly<
    Record<"failureRate" | "minimumCalls" | "windowMs" | "openMs" | "probes", number>
  >
  readonly #clock: Clock
  /** Outcomes of each slot of the window. */
  readonly #successes = new Array<number>(SLOTS).fill(0)
  readonly #failures = new Array<number>(SLOTS).fill(0)
  #successCount = 0
  #failureCount = 0
  #slot = 0
  /** Counts changes of state: tickets of earlier states are ignored. */
  #generation = 0
  #state: BreakerState = "closed"
  #openUntil = 0
  #openMs: number
  #probes = 0
  #goodProbes = 0

  constructor(policy: BreakerPolicy, protects: Protected, clock: Clock) {
    const {
      failureRate = 0.5,
      minimumCalls = 20,
      windowMs = 10_000,
      openMs = 5_000,
      probes = 1,
    } = policy
    this.protects = protects
    this.#settings = { failureRate, minimumCalls, windowMs, openMs, probes }
    this.#clock = clock
    this.#openMs = openMs
  }

  /** The state at this moment: an open circuit whose time is over is half open. */
  get state(): BreakerState {
    return this.#state === "open" && this.#clock.now() >= this.#openUntil
      ? "half-open"
      : this.#state
  }

  /** Running probes. */
  get probing(): number {
    return this.#state === "half-open" ? this.#probes : 0
  }

  get status(): BreakerStatus {
    const { protects, state, probing, lastCode } = this
    return { ...protects, state, probing, retryAfterMs: this.retryAfter(), lastCode }
  }

  /** A ticket for one call, or `REFUSED`. */
  enter(): number {
    if (this.#state === "closed") return this.#generation
    if (this.#state === "open") {
      if (this.#clock.now() < this.#openUntil) return REFUSED
      this.#become("half-open")
      this.#probes = 0
      this.#goodProbes = 0
    }
    if (this.#probes >= this.#settings.probes) return REFUSED
    this.#probes++
    return this.#generation
  }

  leave(ticket: number, outcome: Outcome, code?: string): void {
    if (outcome === "failure") this.lastCode = code
    if (ticket !== this.#generation) return
    if (this.#state === "closed") {
      if (outcome !== "neutral") this.#count(outcome)
      return
    }
    this.#probes--
    if (outcome === "failure") {
      this.#openMs = Math.min(this.#openMs * 2, this.#settings.openMs * MAX_OPEN_TIMES)
      this.#open()
    } else if (outcome === "success" && ++this.#goodProbes >= this.#settings.probes) {
      this.#openMs = this.#settings.openMs
      this.#become("closed")
    }
  }

  /** A failure after an initial success, such as a stream that breaks off. */
  fail(code?: string): void {
    this.lastCode = code
    if (this.#state === "closed") this.#count("failure")
  }

  /** Milliseconds until the next probe is possible; while probes run, the duration of another rest. */
  retryAfter(): number {
    if (this.#state === "closed") return 0
    const left = this.#openUntil - this.#clock.now()
    return this.#state === "open" && left > 0 ? left : this.#openMs
  }

  #count(outcome: "success" | "failure"): void {
    this.#moveWindow()
    const at = this.#slot % SLOTS
    if (outcome === "success") {
      this.#successCount++
      this.#successes[at]!++
      return
    }
    this.#failureCount++
    this.#failures[at]!++
    const { minimumCalls, failureRate } = this.#settings
    const total = this.#successCount + this.#failureCount
    if (total >= minimumCalls && this.#failureCount >= failureRate * total) this.#open()
  }

  /** Drops the outcomes of slots that are no longer in the window. */
  #moveWindow(): void {
    const slot = Math.floor((this.#clock.now() * SLOTS) / this.#settings.windowMs)
    if (slot === this.#slot) return
    const passed = Math.min(slot - this.#slot, SLOTS)
    for (let step = 0; step < passed; step++) this.#clear((slot - step) % SLOTS)
    this.#slot = slot
  }

  #clear(at: number): void {
    this.#successCount -= this.#successes[at]!
    this.#failureCount -= this.#failures[at]!
    this.#successes[at] = 0
    this.#failures[at] = 0
  }

  #open(): void {
    this.#become("open")
    this.#openUntil = this.#clock.now() + this.#openMs
  }

  #become(state: BreakerState): void {
    this.#state = state
    this.#generation++
    for (let at = 0; at < SLOTS; at++) this.#clear(at)
  }
}
