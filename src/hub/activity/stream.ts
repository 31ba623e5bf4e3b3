import type { CallError } from "../../core/errors.ts"
import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Beating, Heartbeats } from "../../serve/http/sse.ts"
import type { HTTPSink, HTTPStream } from "../../serve/exchange.ts"
import { toProblem } from "../../serve/http/answer.ts"
import type { Activity, ActivityReader, HubEvent } from "../activity.ts"
import { deferred } from "../../internal/wait.ts"

/** Dependencies of an `ActivityStream`. */
export interface ActivityStreamParts {
  readonly activity: Activity
  readonly clock: Clock
  readonly heartbeats: Heartbeats
  readonly requestId: string
}

/** Milliseconds in which events are collected before they are written. */
const PAUSE_MS = 100
/** Maximum number of events that wait for a reader; beyond it the oldest are dropped. */
const MAX_WAITING = 500

/**
 * The activity of a hub as server-sent events: first the current state, then every change.
 *
 * A reader that is too slow loses the oldest events, and receives how many were lost.
 */
export class ActivityStream implements HTTPStream, Beating, ActivityReader {
  readonly #parts: ActivityStreamParts
  readonly #over = deferred()
  #isOver = false
  #ending: CallError | undefined
  #sink: HTTPSink | undefined
  #isFull = false
  /** Something was written since the last heartbeat. */
  #isBusy = true
  #timer: unknown
  #resume: (() => void) | undefined
  /** Events that are not written yet, and the number of those that were dropped before them. */
  #waiting: HubEvent[] = []
  #lost = 0

  constructor(parts: ActivityStreamParts) {
    this.#parts = parts
  }

  async run(sink: HTTPSink): Promise<void> {
    const { activity, clock, heartbeats } = this.#parts
    this.#sink = sink
    const stop = sink.onGone(() => this.#finish())
    activity.listen(this)
    heartbeats.add(this)
    try {
      let text = activity.currentEvents().reduce((all, event) => all + event.text, "")
      while (!this.#isOver) {
        await this.#write(text)
        await Promise.race([this.#untilEvent(), this.#over.promise])
        text = this.#takeText()
      }
      if (!sink.isGone) sink.write(text + this.#lastEvent())
    } finally {
      stop()
      clock.clearTimeout(this.#timer)
      heartbeats.delete(this)
      activity.leave(this)
    }
  }

  /** Ends the stream from this side, because the hub closes or for a reason. */
  end(reason?: CallError): void {
    this.#ending ??= reason
    this.#finish()
  }

  #finish(): void {
    this.#isOver = true
    this.#over.resolve()
  }

  push(event: HubEvent): void {
    this.#waiting.push(event)
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift()
      this.#lost++
    }
    this.#wake()
  }

  #wake(): void {
    if (this.#resume === undefined || this.#timer !== undefined) return
    this.#timer = this.#parts.clock.setTimeout(() => {
      this.#timer = undefined
      this.#resume?.()
    }, PAUSE_MS)
    setRef(this.#timer, false)
  }

  beat(): void {
    if (!this.#isBusy && !this.#isFull) this.#sink?.write(": \n\n")
    this.#isBusy = false
  }

  /** Resolves when the reader has room for more, or the stream is over. */
  async #write(text: string): Promise<void> {
    const sink = this.#sink as HTTPSink
    this.#isBusy = true
    if (text === "" || sink.write(text)) return
    this.#isFull = true
    await Promise.race([sink.drained(), this.#over.promise])
    this.#isFull = false
  }

  /** Resolves shortly after an event is waiting. */
  #untilEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = undefined
        resolve()
      }
      if (this.#waiting.length > 0) this.#wake()
    })
  }

  #lastEvent(): string {
    if (this.#ending === undefined) return "event: end\ndata: {}\n\n"
    const problem = toProblem(this.#ending, undefined, this.#parts.requestId)
    return `event: error\ndata: ${JSON.stringify(problem)}\n\n`
  }

  #takeText(): string {
    const lost = this.#lost === 0 ? "" : `event: lost\ndata: {"events":${this.#lost}}\n\n`
    const text = this.#waiting.reduce((all, event) => all + event.text, lost)
    this.#waiting = []
    this.#lost = 0
    return text
  }
}
