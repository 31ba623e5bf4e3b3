import { MAX_TIMER_DELAY, systemClock } from "../../internal/clock.ts"
import { DeadlineTimer } from "../../internal/deadline-timer.ts"
import { Deadlines } from "../../internal/deadlines.ts"
import { setRef } from "../../internal/defer.ts"
import type { HTTPAnswer, HTTPHeaders, HTTPSink, HTTPStream } from "../exchange.ts"
import { GONE, JSON_HEADERS } from "./answers.ts"
import type { Answer } from "./messages.ts"
import type { Channel } from "./peer.ts"

const COMMENT = ": keepalive\n\n"

const EVENT_HEADERS: HTTPHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
}

/** One timer for all requests. */
const silences = new Deadlines(systemClock)

/** Options of a response. */
export interface ReplyOptions {
  /** Requests that are answered; none for a stream that is closed by other means. */
  readonly requests: number
  /** Headers of a response with JSON. */
  readonly headers?: HTTPHeaders | undefined
  /** Milliseconds after which the response begins without an answer, so that no proxy closes the connection. */
  readonly beginMs: number
  /** Milliseconds between comments. */
  readonly keepAliveMs: number
  /** Called when a stream begins: it is over when the credential of its caller is. Returns a function that cancels. */
  readonly onStream: () => () => void
  /** Called once: the response is complete, or its client has left. */
  readonly onEnd: (hasLeft: boolean) => void
}

/**
 * The response to requests: JSON if the answer to a single one is all that there is to send, and a stream of events as
 * soon as there is something else, or the answer is late.
 */
export class Reply implements Channel, HTTPStream {
  readonly answer: Promise<HTTPAnswer>
  readonly #options: ReplyOptions
  readonly #silence: DeadlineTimer | undefined
  #resolve: (answer: HTTPAnswer) => void = () => undefined
  #missing: number
  #isStream = false
  #isOver = false
  /** Events before there is a sink. */
  #waiting = ""
  #sink: HTTPSink | undefined
  #wake: (() => void) | undefined
  #forget: (() => void) | undefined

  constructor(options: ReplyOptions) {
    const { requests, beginMs } = options
    this.#options = options
    this.#missing = requests
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve
    })
    if (requests !== 1) this.#open()
    else if (Number.isFinite(beginMs) && beginMs >= 1) {
      this.#silence = new DeadlineTimer(silences, () => this.#write(COMMENT))
      this.#silence.start(systemClock.now() + beginMs)
    }
  }

  send(text: string): void {
    if (!this.#isOver) this.#write(`event: message\ndata: ${text}\n\n`)
  }

  finish(answer: Answer | undefined): void {
    if (this.#isOver) return
    const isLast = --this.#missing === 0
    if (!this.#isStream && answer !== undefined) {
      const { headers = JSON_HEADERS } = this.#options
      this.#resolve({ status: answer.status, headers, body: answer.text })
    } else if (answer === undefined) this.#write("")
    else this.send(answer.text)
    if (isLast) this.close()
  }

  /** Ends the response; `true` if its client has left. */
  close(hasLeft = false): void {
    if (this.#isOver) return
    this.#isOver = true
    if (hasLeft) this.#resolve(GONE)
    this.#silence?.stop()
    this.#wake?.()
    this.#forget?.()
    this.#options.onEnd(hasLeft)
  }

  async run(sink: HTTPSink): Promise<void> {
    if (this.#waiting !== "") sink.write(this.#waiting)
    this.#sink = sink
    if (this.#isOver) return
    const { keepAliveMs } = this.#options
    const timer =
      keepAliveMs >= 1 && Number.isFinite(keepAliveMs)
        ? setInterval(() => sink.write(COMMENT), Math.min(keepAliveMs, MAX_TIMER_DELAY))
        : undefined
    setRef(timer, false)
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      sink.onGone(() => this.close(true))
    })
    clearInterval(timer)
  }

  #open(): void {
    const { headers, onStream } = this.#options
    this.#isStream = true
    this.#silence?.stop()
    this.#forget = onStream()
    this.#resolve({ status: 200, headers: { ...headers, ...EVENT_HEADERS }, body: this })
  }

  #write(event: string): void {
    if (!this.#isStream) this.#open()
    if (this.#sink === undefined) this.#waiting += event
    else if (event !== "") this.#sink.write(event)
  }
}
