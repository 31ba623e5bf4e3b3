import type { CallRequestedEvent } from "../../../core/events.ts"
import { setRef } from "../../../internal/defer.ts"
import type { CallerState } from "./state.ts"
import { Ticker } from "../ticker.ts"
import { deferOn, wallTimeOf } from "../../../internal/clock.ts"

/** Changes within this time are reported as one. */
const TOGETHER_MS = 50
/** Interval at which workers are discovered again, and the silence after which an idle worker is forgotten. */
const ASK_MS = 10_000
const FORGET_MS = 25_000

interface ChangeStream {
  seq: number
  /** The number of the last item that may be sent. */
  credit: number
  /** The next item, which waits for credit. */
  next: "ready" | "reset" | undefined
}

/**
 * `services.changes` for all workers together. Its items report only that something changed; consumers then
 * list again.
 */
export class ChangeStreams {
  readonly #state: CallerState
  readonly #streams = new Map<string, ChangeStream>()
  readonly #ticker: Ticker
  #timer: unknown

  constructor(state: CallerState) {
    this.#state = state
    this.#ticker = new Ticker(state.clock, ASK_MS, (late) => this.#forgetSilent(late))
  }

  get size(): number {
    return this.#streams.size
  }

  has(requestId: string): boolean {
    return this.#streams.has(requestId)
  }

  begin({ requestId, window }: CallRequestedEvent): void {
    const credit = window ?? Number.POSITIVE_INFINITY
    this.#streams.set(requestId, { seq: 0, credit, next: "ready" })
    this.#ticker.start()
    const { clock } = this.#state
    const sendNext = (): void => this.#sendNext(requestId)
    deferOn(clock, sendNext)
  }

  credit(requestId: string, credit: number): void {
    const stream = this.#streams.get(requestId)
    if (stream === undefined) return
    stream.credit = Math.max(stream.credit, credit)
    this.#sendNext(requestId)
  }

  leave(requestId: string): void {
    this.#streams.delete(requestId)
    if (this.#streams.size === 0) this.close()
  }

  /** Reports that workers came, left, or serve other operations. */
  changed(): void {
    if (this.#streams.size === 0 || this.#timer !== undefined) return
    this.#timer = this.#state.clock.setTimeout(this.#onTimer, TOGETHER_MS)
    setRef(this.#timer, false)
  }

  close(): void {
    this.#streams.clear()
    this.#ticker.stop()
    if (this.#timer !== undefined) this.#state.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    for (const [requestId, stream] of [...this.#streams]) {
      stream.next ??= "reset"
      this.#sendNext(requestId)
    }
  }

  #sendNext(requestId: string): void {
    const stream = this.#streams.get(requestId)
    if (stream?.next === undefined || stream.seq >= stream.credit) return
    const data = { type: stream.next }
    const seq = ++stream.seq
    stream.next = undefined
    const timestamp = wallTimeOf(this.#state.clock)
    const meta = { source: "local", operationId: "services.changes", timestamp } as const
    this.#state.deliver({ type: "call.responded", requestId, output: { data, meta }, seq })
  }

  /** Forgets idle workers that disappeared silently. */
  #forgetSilent(lateBy: number): void {
    const { book, bus } = this.#state
    const now = this.#state.now()
    for (const worker of [...book.all()]) {
      if (lateBy > 0 || !bus.isConnected) worker.lastSeenAt = now
      const isIdle = worker.watchedFrom === undefined && worker.entries.size === 0
      if (isIdle && now - worker.lastSeenAt > FORGET_MS) book.forget(worker)
    }
    this.#state.ask()
  }
}
