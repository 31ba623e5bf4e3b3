import type { CallRequestedEvent } from "../../../core/events.ts"
import { setRef } from "../../../internal/defer.ts"
import type { CallerCore } from "./state.ts"
import { Ticker } from "../ticker.ts"
import { wallTimeOf } from "../../../internal/clock.ts"

/** Workers that come or go at about the same time are one change. */
const TOGETHER_MS = 50
/** So often all are asked who is there, and after so long one that said nothing is not. */
const ASK_MS = 10_000
const FORGET_MS = 25_000

interface ChangeStream {
  seq: number
  /** The number of the last item that may be sent. */
  credit: number
  /** What there is to say as soon as it may be. */
  next: "ready" | "reset" | undefined
}

/**
 * `services.changes` for all workers together: it says only that something changed, and whoever listens lists
 * again.
 */
export class ChangeStreams {
  readonly #core: CallerCore
  readonly #streams = new Map<string, ChangeStream>()
  readonly #ticker: Ticker
  #timer: unknown

  constructor(core: CallerCore) {
    this.#core = core
    this.#ticker = new Ticker(core.clock, ASK_MS, (late) => this.#lookAround(late))
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
    const { clock } = this.#core
    const tell = (): void => this.#tell(requestId)
    if (clock.defer === undefined) clock.setTimeout(tell, 0)
    else clock.defer(tell)
  }

  credit(requestId: string, credit: number): void {
    const stream = this.#streams.get(requestId)
    if (stream === undefined) return
    stream.credit = Math.max(stream.credit, credit)
    this.#tell(requestId)
  }

  leave(requestId: string): void {
    this.#streams.delete(requestId)
    if (this.#streams.size === 0) this.close()
  }

  /** Workers came, went or serve something else. */
  changed(): void {
    if (this.#streams.size === 0 || this.#timer !== undefined) return
    this.#timer = this.#core.clock.setTimeout(this.#onTimer, TOGETHER_MS)
    setRef(this.#timer, false)
  }

  close(): void {
    this.#streams.clear()
    this.#ticker.stop()
    if (this.#timer !== undefined) this.#core.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    for (const [requestId, stream] of [...this.#streams]) {
      stream.next ??= "reset"
      this.#tell(requestId)
    }
  }

  #tell(requestId: string): void {
    const stream = this.#streams.get(requestId)
    if (stream?.next === undefined || stream.seq >= stream.credit) return
    const data = { type: stream.next }
    const seq = ++stream.seq
    stream.next = undefined
    const timestamp = wallTimeOf(this.#core.clock)
    const meta = { source: "local", operationId: "services.changes", timestamp } as const
    this.#core.deliver({ type: "call.responded", requestId, output: { data, meta }, seq })
  }

  /** Finds those that went without a word while nobody had anything for them. */
  #lookAround(lateBy: number): void {
    const { book, bus } = this.#core
    const now = this.#core.now()
    for (const worker of [...book.all()]) {
      if (lateBy > 0 || !bus.isConnected) worker.heardAt = now
      const isIdle = worker.watchedFrom === undefined && worker.entries.size === 0
      if (isIdle && now - worker.heardAt > FORGET_MS) book.forget(worker)
    }
    this.#core.ask()
  }
}
