import type { CallError } from "../../core/errors.ts"
import type { EnvelopeStream } from "../../core/infer.ts"
import { defer } from "../../internal/defer.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { Endable } from "./answer.ts"
import type { Beating, Heartbeats } from "./heartbeats.ts"
import type { HTTPSink, HTTPStream } from "../exchange.ts"

/** What a stream of events is made of. */
export interface EventStreamParts {
  readonly items: EnvelopeStream
  /** The item that has been asked for already. */
  readonly first: Promise<IteratorResult<ResponseEnvelope, unknown>>
  /** The JSON of one item. */
  readonly render: (envelope: ResponseEnvelope) => string
  /** The JSON of a failure. */
  readonly renderError: (error: unknown) => string
  /** The number of the last event that the client has. */
  readonly lastId: number
  readonly maxBufferBytes: number
  readonly heartbeats: Heartbeats
  /** Called once, when it is over. */
  readonly over: () => void
}

// More than this at once makes nothing cheaper.
const MAX_JOINED = 16 * 1024

/**
 * Items as server-sent events.
 *
 * Events of one turn are one write. An item is asked for when the connection has room; whoever
 * reads slowly slows the handler down.
 */
export class EventStream implements HTTPStream, Beating, Endable {
  readonly #parts: Omit<EventStreamParts, "first">
  /** Until it is taken: what was sent is not kept for as long as the stream is open. */
  #first: EventStreamParts["first"] | undefined
  readonly #limit: number
  #sink: HTTPSink | undefined
  #text = ""
  #id: number
  #isScheduled = false
  #isFull = false
  #isOver = false
  /** Whether anything was written since the last beat. */
  #isBusy = true
  #ending: CallError | undefined
  #over: (() => void) | undefined

  constructor({ first, ...parts }: EventStreamParts) {
    this.#parts = parts
    this.#first = first
    this.#id = parts.lastId
    this.#limit = Math.min(MAX_JOINED, parts.maxBufferBytes)
  }

  async run(sink: HTTPSink): Promise<void> {
    const { items, renderError, heartbeats, over } = this.#parts
    this.#sink = sink
    const stop = sink.onGone(() => this.#leave())
    heartbeats.add(this)
    try {
      await this.#pump(sink)
      this.#text +=
        this.#ending === undefined ? "event: end\ndata: {}\n\n" : failure(renderError(this.#ending))
    } catch (error) {
      this.#text += failure(renderError(this.#ending ?? error))
    } finally {
      this.#isOver = true
      stop()
      heartbeats.delete(this)
      this.#write()
      // For items that could not be rendered: the handler is still waiting then.
      items.return?.().catch(() => undefined)
      over()
      this.#over?.()
    }
  }

  whenOver(listener: () => void): void {
    this.#over = listener
  }

  /** Ends it from this side, and says why. */
  end(reason: CallError): void {
    this.#ending ??= reason
    this.#leave()
  }

  beat(): void {
    if (!this.#isBusy && !this.#isFull) this.#sink?.write(": \n\n")
    this.#isBusy = false
  }

  async #pump(sink: HTTPSink): Promise<void> {
    while (this.#take(await this.#next(), sink)) {
      if (this.#text.length >= this.#limit) {
        this.#write()
        // Others have their turn, however fast the items come.
        await turn()
      } else if (!this.#isScheduled) {
        this.#isScheduled = true
        defer(this.#flush)
      }
      if (this.#isFull) {
        await sink.drained()
        this.#isFull = false
        if (sink.isGone) return
      }
    }
  }

  #next(): EventStreamParts["first"] {
    const first = this.#first
    if (first === undefined) return this.#parts.items.next()
    this.#first = undefined
    return first
  }

  /** Whether there was an item for somebody who is there. */
  #take(result: IteratorResult<ResponseEnvelope, unknown>, sink: HTTPSink): boolean {
    if (result.done === true || sink.isGone) return false
    this.#text += `id: ${++this.#id}\ndata: ${this.#parts.render(result.value)}\n\n`
    return true
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    if (!this.#isOver) this.#write()
  }

  #write(): void {
    const text = this.#text
    if (text === "" || this.#sink === undefined || this.#sink.isGone) return
    this.#text = ""
    this.#isBusy = true
    if (!this.#sink.write(text)) this.#isFull = true
  }

  /** The handler's signal fires at once, and whoever waits for its next item is told of the end. */
  #leave(): void {
    this.#parts.items.return?.().catch(() => undefined)
  }
}

/** Settles when what runs now is over. */
export function turn(): Promise<void> {
  return new Promise<void>((resolve) => {
    defer(resolve)
  })
}

function failure(json: string): string {
  return `event: error\ndata: ${json}\n\n`
}
