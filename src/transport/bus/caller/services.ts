import type { CallRequestedEvent } from "../../../core/events.ts"
import type { DeliveryStatus } from "../../../protocol/transport.ts"
import { setRef } from "../../../internal/defer.ts"
import type { CallerState } from "./state.ts"
import { Gather } from "./gather.ts"
import { Ticker } from "../ticker.ts"
import { deferOn, wallTimeOf } from "../../../internal/clock.ts"

/** Changes within this time are reported as one. */
const TOGETHER_MS = 50
/** Interval at which workers are discovered again, and the silence after which an idle worker is forgotten. */
const ASK_MS = 10_000
const FORGET_MS = 25_000

/** A stream of `services.changes`. Its items report only that something changed; consumers then list again. */
interface ChangeStream {
  seq: number
  /** The number of the last item that may be sent. */
  credit: number
  /** The next item, which waits for credit. */
  next: "ready" | "reset" | undefined
}

/** Answers `services.list`, `services.schema` and `services.changes` for all workers together. */
export class CallerServices {
  readonly #state: CallerState
  readonly #gathers = new Map<string, Gather>()
  readonly #streams = new Map<string, ChangeStream>()
  readonly #ticker: Ticker
  #timer: unknown

  constructor(state: CallerState) {
    this.#state = state
    this.#ticker = new Ticker(state.clock, ASK_MS, (late) => this.#forgetSilent(late))
  }

  get size(): number {
    return this.#gathers.size + this.#streams.size
  }

  /** Requests that wait for the broker. */
  get held(): number {
    return [...this.#gathers.values()].filter(({ isHeld }) => isHeld).length
  }

  /** Whether a request is answered here. A wrong kind of request goes to a worker, whose registry refuses it. */
  takes({ operationId, kind }: CallRequestedEvent): boolean {
    if (!operationId.startsWith("services.")) return false
    if (operationId === "services.changes") return kind !== "call"
    return (
      kind !== "stream" && (operationId === "services.list" || operationId === "services.schema")
    )
  }

  has(requestId: string): boolean {
    return this.#gathers.has(requestId) || this.#streams.has(requestId)
  }

  /** Throws a `CallError` when it cannot be sent. */
  begin(event: CallRequestedEvent): void {
    const { requestId, operationId, window: credit = Number.POSITIVE_INFINITY } = event
    if (operationId === "services.changes") {
      this.#streams.set(requestId, { seq: 0, credit, next: "ready" })
      this.#ticker.start()
      return deferOn(this.#state.clock, () => this.#sendNext(requestId))
    }
    const gather = new Gather(this.#state, event, () => this.#gathers.delete(requestId))
    this.#gathers.set(requestId, gather)
    try {
      gather.begin()
    } catch (thrown) {
      this.leave(requestId)
      throw thrown
    }
  }

  deliveryStatus(requestId: string): DeliveryStatus | undefined {
    if (this.#streams.has(requestId)) return { mayHaveExecuted: false, retryable: true }
    return this.#gathers.get(requestId)?.deliveryStatus()
  }

  leave(requestId: string): void {
    this.#gathers.get(requestId)?.leave()
    this.#gathers.delete(requestId)
    this.#streams.delete(requestId)
    if (this.#streams.size === 0) this.#stopWatching()
  }

  credit(requestId: string, credit: number): void {
    const stream = this.#streams.get(requestId)
    if (stream === undefined) return
    stream.credit = Math.max(stream.credit, credit)
    this.#sendNext(requestId)
  }

  /** The request to all workers with this id; `undefined` for all other requests. */
  gatherOf(requestId: string): Gather | undefined {
    return this.#gathers.size === 0 ? undefined : this.#gathers.get(requestId)
  }

  /** The request to all workers that was sent under a correlation id. */
  gatherSentAs(correlationId: string): Gather | undefined {
    return [...this.#gathers.values()].find((gather) => gather.correlationId === correlationId)
  }

  connected(isAgain: boolean): void {
    for (const gather of [...this.#gathers.values()]) gather.askAgain()
    // Announcements were missed meanwhile.
    if (isAgain) this.changed()
  }

  disconnected(): void {
    for (const gather of this.#gathers.values()) gather.hold()
  }

  /** Reports that workers came, left, or serve other operations. */
  changed(): void {
    if (this.#streams.size === 0 || this.#timer !== undefined) return
    this.#timer = this.#state.clock.setTimeout(this.#onTimer, TOGETHER_MS)
    setRef(this.#timer, false)
  }

  close(): void {
    for (const gather of this.#gathers.values()) gather.leave()
    this.#gathers.clear()
    this.#streams.clear()
    this.#stopWatching()
  }

  #stopWatching(): void {
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
