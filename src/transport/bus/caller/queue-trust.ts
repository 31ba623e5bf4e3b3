/** How long workers are chosen here after an unanswered request to the queue, in milliseconds; doubles up to a maximum. */
const FIRST_REST = 5000
const MAX_REST = 60_000
/** Answered probes in a row before the broker chooses for all calls again. */
const TRUSTED_AFTER = 10

/**
 * Whether the broker's choice among the workers of an operation can be trusted.
 *
 * A broker keeps sending to a queue member that is frozen, or whose connection is half open, and a caller may not know
 * that worker. When requests to the queue go unanswered, calls are sent to workers that are known to be alive, and
 * single calls probe whether the queue answers again.
 */
export class QueueTrust {
  #isSuspect = false
  #directUntil = Number.NEGATIVE_INFINITY
  #rest = FIRST_REST
  #answered = 0
  #probe: object | undefined

  /** Whether the broker may choose the worker for a call. */
  takes(call: object, now: number): boolean {
    if (!this.#isSuspect) return true
    if (now < this.#directUntil || this.#probe !== undefined) return false
    this.#probe = call
    return true
  }

  /** Records that no worker accepted a call from the queue. */
  unanswered(call: object, now: number): void {
    this.over(call)
    this.#isSuspect = true
    this.#answered = 0
    // Calls that were sent at about the same time are no further evidence.
    if (now < this.#directUntil) return
    this.#directUntil = now + this.#rest
    this.#rest = Math.min(2 * this.#rest, MAX_REST)
  }

  /** Records that a worker accepted a call. */
  answered(call: object): void {
    if (this.#probe !== call) return
    this.#probe = undefined
    if (++this.#answered < TRUSTED_AFTER) return
    this.#isSuspect = false
    this.#answered = 0
    this.#rest = FIRST_REST
  }

  /** Forgets a call that is over, or is sent another way. */
  over(call: object): void {
    if (this.#probe === call) this.#probe = undefined
  }
}
