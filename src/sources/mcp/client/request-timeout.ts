import { CallError, isCallError } from "../../../core/errors.ts"
import { addSignalListener, removeSignalListener } from "../../../internal/signals.ts"
import type { Clock } from "../../../internal/platform.ts"
import { fromWallTime, MAX_TIMER_DELAY } from "../../../internal/clock.ts"
import { pause } from "../../../internal/wait.ts"
import { AskedTime } from "../../../internal/asked-time.ts"
import { Listeners } from "../../../internal/listeners.ts"

/** The limits of a request. */
export interface RequestTimeoutOptions {
  readonly clock: Clock
  /** The subject of error messages. */
  readonly subject: string
  /** Maximum time without activity, in milliseconds; default: none. */
  readonly idle?: number
  /** Maximum time in total, in milliseconds; default: none. */
  readonly total?: number
  /** Epoch milliseconds. Read again when it has passed: it moves while the caller is asked. */
  readonly deadline?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const NEVER = Number.POSITIVE_INFINITY

type Reason = "aborted" | "idle" | "total" | "deadline"

/**
 * The timeout of one request: its caller's signal, a deadline, a total and an idle limit.
 *
 * Its creator disposes of it.
 */
export class RequestTimeout {
  readonly #options: RequestTimeoutOptions
  readonly #listeners = new Listeners()
  readonly #asked = new AskedTime()
  #totalEndsAt: number
  #endsAt: number
  /** As it was read last: only a changed one is converted again, since dates may be set. */
  #deadline: number | undefined
  #idleAt = NEVER
  #pauses = 1
  // One timer for both limits: it checks what is due when it fires, so that progress costs nothing.
  #timer: unknown
  #firesAt = NEVER
  #reason: Reason | undefined
  #controller: AbortController | undefined

  /** The idle limit applies only after `resume`. */
  constructor(options: RequestTimeoutOptions) {
    this.#options = options
    const { clock, total = NEVER, idle = NEVER, signal } = options
    const now = clock.now()
    this.#totalEndsAt = now + total
    this.#endsAt = this.#due()
    if (signal?.aborted === true) this.#end("aborted")
    else if (this.#endsAt <= now) this.#expire()
    else {
      if (signal !== undefined) addSignalListener(signal, this)
      this.#arm(Math.min(this.#endsAt, now + idle), now)
    }
  }

  get isOver(): boolean {
    return this.#reason !== undefined
  }

  /** Remaining milliseconds. */
  get left(): number {
    return this.#endsAt - this.#options.clock.now()
  }

  /** Fires on timeout or abort; created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController()
      this.#controller = controller
      if (this.isOver) controller.abort()
      else this.onEnd(() => controller.abort())
    }
    return this.#controller.signal
  }

  /** Calls a listener on timeout or abort; returns a function that removes it. */
  onEnd(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Records activity: restarts the idle limit. */
  touch(): void {
    if (this.#pauses > 0 || this.isOver) return
    const now = this.#options.clock.now()
    this.#idleAt = now + (this.#options.idle ?? NEVER)
    if (this.#idleAt < this.#firesAt) this.#arm(this.#idleAt, now)
  }

  /** Stops the idle and the total limit when the server asks a question (1), until it has ended (-1). */
  stop(by: 1 | -1): void {
    const now = this.#options.clock.now()
    this.#totalEndsAt += this.#asked.shift(by, now)
    this.#endsAt = this.#due()
    if (by === 1) this.pause()
    else this.resume()
    if (!this.isOver && this.#endsAt < this.#firesAt) this.#arm(this.#endsAt, now)
  }

  /** Suspends the idle limit, since the server waits for us, until the matching `resume`. */
  pause(): void {
    this.#pauses++
    this.#idleAt = NEVER
  }

  resume(): void {
    this.#pauses--
    this.touch()
  }

  dispose(): void {
    const { clock, signal } = this.#options
    if (signal !== undefined) removeSignalListener(signal, this)
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer)
    this.#timer = undefined
    // A question that ends later starts no timer any more.
    this.#firesAt = 0
    this.#listeners.clear()
  }

  handleEvent(): void {
    this.#end("aborted")
  }

  /** The error for the timeout or abort. */
  error(wasSent: boolean): CallError {
    const { subject, signal, idle, total } = this.#options
    if (this.#reason === "aborted") {
      const cause: unknown = signal?.reason
      if (isCallError(cause)) return cause
      const isTimeout = cause instanceof Error && cause.name === "TimeoutError"
      return new CallError(
        isTimeout ? "TIMEOUT" : "ABORTED",
        isTimeout ? `${subject} got no answer in time.` : `${subject} was aborted.`,
        { cause, mayHaveExecuted: wasSent },
      )
    }
    const why =
      this.#reason === "idle"
        ? `got no response or progress for ${idle} ms. Raise "timeout" of the server if it needs longer, or have it report progress.`
        : this.#reason === "deadline"
          ? `got no answer before its deadline.`
          : `took longer than ${total} ms in total. Raise "maxTotalTimeout" of the server if it needs longer.`
    return new CallError("TIMEOUT", `${subject} ${why}`, {
      mayHaveExecuted: wasSent,
      details: { reason: this.#reason },
    })
  }

  /** Waits for a time, or until the timeout. */
  async wait(milliseconds: number): Promise<void> {
    await pause(milliseconds, { clock: this.#options.clock, signal: this.signal })
    if (this.isOver) throw this.error(false)
  }

  /** Waits for a promise; rejects on timeout or abort. */
  async race<TValue>(promise: Promise<TValue>, wasSent: boolean): Promise<TValue> {
    let forget: (() => void) | undefined
    try {
      return await new Promise<TValue>((resolve, reject) => {
        if (this.isOver) reject(this.error(wasSent))
        forget = this.onEnd(() => reject(this.error(wasSent)))
        promise.then(resolve, reject)
      })
    } finally {
      forget?.()
    }
  }

  #arm(at: number, now: number): void {
    const { clock } = this.#options
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#firesAt = at
    if (at === NEVER) return
    const delay = Math.min(Math.max(0, at - now), MAX_TIMER_DELAY)
    this.#timer = clock.setTimeout(this.#fire, delay)
  }

  readonly #fire = (): void => {
    this.#timer = undefined
    const now = this.#options.clock.now()
    if (this.#endsAt <= now && this.#options.deadline !== this.#deadline) this.#endsAt = this.#due()
    if (this.#endsAt <= now) this.#expire()
    else if (this.#idleAt <= now) this.#end("idle")
    else this.#arm(Math.min(this.#endsAt, this.#idleAt), now)
  }

  #due(): number {
    const { clock, deadline } = this.#options
    this.#deadline = deadline
    return Math.min(this.#totalEndsAt, fromWallTime(clock, deadline ?? NEVER))
  }

  #expire(): void {
    this.#end(this.#endsAt < this.#totalEndsAt ? "deadline" : "total")
  }

  #end(reason: Reason): void {
    if (this.isOver) return
    this.#reason = reason
    this.#listeners.notify()
    this.dispose()
  }
}
