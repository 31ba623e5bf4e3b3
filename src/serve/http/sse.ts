import type { CallError } from "../../core/errors.ts"
import { encodeResult, encodeSoon } from "../../core/unread-file.ts"
import type { EnvelopeStream } from "../../core/infer.ts"
import { defer, setRef, turn } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { HTTPSink, HTTPStream } from "../exchange.ts"

/** Dependencies of an `EventStream`. */
export interface EventStreamParts {
  readonly items: EnvelopeStream
  /** The first item, which has already been requested. */
  readonly first: Promise<IteratorResult<ResponseEnvelope, unknown>>
  /** The JSON of one item. */
  readonly render: (envelope: ResponseEnvelope) => string
  /** The JSON of a failure. */
  readonly renderError: (error: unknown) => string
  /** The number of the last event that the client has. */
  readonly lastId: number
  readonly maxBufferBytes: number
  readonly heartbeats: Heartbeats
  /** Called once, at the end. */
  readonly over: () => void
}

// Larger writes have no benefit.
const MAX_JOINED = 16 * 1024

/**
 * Items as server-sent events.
 *
 * Events of one turn are one write. The next item is requested when the connection has room, so a
 * slow reader slows the handler down.
 */
export class EventStream implements HTTPStream, Beating {
  readonly #parts: Omit<EventStreamParts, "first">
  /** Cleared when it is taken, so that an item is not kept while the stream is open. */
  #first: EventStreamParts["first"] | undefined
  readonly #limit: number
  #sink: HTTPSink | undefined
  #text = ""
  #id: number
  #isScheduled = false
  #isFull = false
  #isOver = false
  /** Something was written since the last heartbeat. */
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
      // After an item that could not be rendered the handler is still waiting.
      items.return?.().catch(() => undefined)
      over()
      this.#over?.()
    }
  }

  /** Calls back at the end. */
  whenOver(listener: () => void): void {
    this.#over = listener
  }

  /** Ends the stream from this side, with a reason. */
  end(reason: CallError): void {
    this.#ending ??= reason
    this.#leave()
  }

  beat(): void {
    if (!this.#isBusy && !this.#isFull) this.#sink?.write(": \n\n")
    this.#isBusy = false
  }

  async #pump(sink: HTTPSink): Promise<void> {
    for (;;) {
      const result = await this.#next()
      if (result.done === true || sink.isGone) return
      const encoded = encodeSoon(() => this.#parts.render(result.value))
      // Awaited first: what was added before may be written meanwhile.
      const text = typeof encoded === "string" ? encoded : await encodeResult(() => encoded)
      this.#text += `id: ${++this.#id}\ndata: ${text}\n\n`
      if (this.#text.length >= this.#limit) {
        this.#write()
        // Yields to other work, however fast items arrive.
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

  /** Aborts the handler's signal at once, and ends the pending request for an item. */
  #leave(): void {
    this.#parts.items.return?.().catch(() => undefined)
  }
}

function failure(json: string): string {
  return `event: error\ndata: ${json}\n\n`
}

/** A stream that sends heartbeats. */
export interface Beating {
  beat(): void
}

/** One heartbeat timer for all open streams. */
export class Heartbeats {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #streams = new Set<Beating>()
  #timer: unknown

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  add(stream: Beating): void {
    this.#streams.add(stream)
    if (this.#streams.size === 1) this.#wait()
  }

  delete(stream: Beating): void {
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(): void {
    if (this.#everyMs === Number.POSITIVE_INFINITY) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#wait()
      for (const stream of this.#streams) stream.beat()
    }, this.#everyMs)
    setRef(this.#timer, false)
  }
}
