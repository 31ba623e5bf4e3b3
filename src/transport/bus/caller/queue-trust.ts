/** After a request to the queue went unanswered, workers are chosen here for so many milliseconds, and then for longer. */
const FIRST_REST = 5000
const LONGEST_REST = 60_000
/** So many requests in a row have to be answered before the broker chooses for all calls again. */
const ENOUGH = 10

/**
 * Whether the broker's choice among the workers of an operation can be trusted.
 *
 * A broker goes on feeding a member of its queue that is frozen, or whose connection is half open, and a caller may
 * never have heard of that worker. When requests to the queue go unanswered, calls are sent to workers that are known
 * to be alive, and single calls find out whether the queue answers again.
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

  /** Nobody accepted a call that was sent to the queue. */
  unanswered(call: object, now: number): void {
    this.over(call)
    this.#isSuspect = true
    this.#answered = 0
    // Others that were sent at about the same time say nothing new.
    if (now < this.#directUntil) return
    this.#directUntil = now + this.#rest
    this.#rest = Math.min(2 * this.#rest, LONGEST_REST)
  }

  /** Somebody took a call. */
  answered(call: object): void {
    if (this.#probe !== call) return
    this.#probe = undefined
    if (++this.#answered < ENOUGH) return
    this.#isSuspect = false
    this.#answered = 0
    this.#rest = FIRST_REST
  }

  /** A call is over, or goes another way. */
  over(call: object): void {
    if (this.#probe === call) this.#probe = undefined
  }
}
