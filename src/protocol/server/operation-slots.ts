import type { Clock } from "../../internal/platform.ts"
import type { WaitingCall } from "./account.ts"

/** While operations share the slots, each may use this multiple of the free ones: three quarters, if it is alone. */
const SHARE = 3
/** How long an operation counts as in use after a call, in milliseconds. */
const IN_USE_MS = 60_000
/** Extra queue space, as a fraction, for operations other than the one that filled the queue. */
const EXTRA = 1 / 4

/**
 * The slots of a server, and the calls that wait for one.
 *
 * An operation that is called alone may use all slots and the whole queue. While others are in use it leaves some slots
 * free, and the others have their own room in the queue. Queued calls start in turns, one operation after the other.
 * So an operation with slow or hanging handlers hardly affects the others.
 */
export class OperationSlots {
  readonly #max: number
  readonly #maxQueued: number
  readonly #clock: Pick<Clock, "now">
  readonly #running = new Map<string, number>()
  /** Queued calls by operation, in the order of their turns; no queue is empty. */
  readonly #queues = new Map<string, Set<WaitingCall>>()
  #used = 0
  #waiting = 0
  #isStarting = false
  /** The operation that was called last, and the time of the last call of any other. */
  #latest = ""
  #latestAt = Number.NEGATIVE_INFINITY
  #otherAt = Number.NEGATIVE_INFINITY

  constructor(max: number, maxQueued: number, clock: Pick<Clock, "now">) {
    this.#max = max
    this.#maxQueued = maxQueued
    this.#clock = clock
  }

  /** Whether a call of this operation would run or wait now. */
  hasRoom(operationId: string): boolean {
    this.#called(operationId)
    return this.#mayRun(operationId) || this.#mayWait(operationId)
  }

  /** Takes a slot; `leave` releases it. */
  tryEnter(operationId: string): boolean {
    this.#called(operationId)
    if (!this.#mayRun(operationId)) return false
    this.#enter(operationId)
    return true
  }

  /** Releases a slot, and starts queued calls that may run now. */
  leave(operationId: string): void {
    this.#leave(operationId)
    // Calls that end as soon as they start are continued by this loop, instead of recursively.
    if (this.#isStarting) return
    this.#isStarting = true
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.dequeue(next)
      this.#enter(next.operationId)
      // Its link is closing.
      if (!next.start()) this.#leave(next.operationId)
    }
    this.#isStarting = false
  }

  /** Queues a call, if there is room. */
  enqueue(call: WaitingCall): boolean {
    const { operationId } = call
    if (!this.#mayWait(operationId)) return false
    const queue = this.#queues.get(operationId)
    if (queue === undefined) this.#queues.set(operationId, new Set([call]))
    else queue.add(call)
    this.#waiting++
    return true
  }

  dequeue(call: WaitingCall): void {
    const { operationId } = call
    const queue = this.#queues.get(operationId)
    if (queue?.delete(call) !== true) return
    this.#waiting--
    if (queue.size === 0) this.#queues.delete(operationId)
  }

  #enter(operationId: string): void {
    this.#used++
    this.#running.set(operationId, this.#runningOf(operationId) + 1)
  }

  #leave(operationId: string): void {
    this.#used--
    const left = this.#runningOf(operationId) - 1
    if (left > 0) this.#running.set(operationId, left)
    else this.#running.delete(operationId)
  }

  #runningOf(operationId: string): number {
    return this.#running.get(operationId) ?? 0
  }

  #mayRun(operationId: string): boolean {
    const free = this.#max - this.#used
    if (free <= 0) return false
    return this.#runningOf(operationId) < SHARE * free || !this.#isShared(operationId)
  }

  #mayWait(operationId: string): boolean {
    if (this.#waiting < this.#maxQueued) return true
    const extra = Math.floor(this.#maxQueued * (1 + EXTRA)) - this.#waiting
    return (this.#queues.get(operationId)?.size ?? 0) < extra
  }

  /** The next call in turn; its operation moves to the end of the line. */
  #next(): WaitingCall | undefined {
    if (this.#waiting === 0) return undefined
    for (const [operationId, queue] of this.#queues) {
      if (!this.#mayRun(operationId)) continue
      this.#queues.delete(operationId)
      this.#queues.set(operationId, queue)
      for (const call of queue) return call
    }
    return undefined
  }

  #called(operationId: string): void {
    // Every peer lists services when it connects: that is no sign of load.
    if (operationId.startsWith("services.")) return
    const now = this.#clock.now()
    if (operationId !== this.#latest) {
      this.#latest = operationId
      this.#otherAt = this.#latestAt
    }
    this.#latestAt = now
  }

  /** Whether other operations are in use. */
  #isShared(operationId: string): boolean {
    if (this.#used > this.#runningOf(operationId)) return true
    const otherAt = operationId === this.#latest ? this.#otherAt : this.#latestAt
    return this.#clock.now() - otherAt < IN_USE_MS
  }
}
