// What only streams need: pages load it with the first of them.

import type { ResponseEnvelope } from "../../core/envelope.ts"
import { errorEvent } from "../../core/error-marks.ts"
import { refusal, type CallError } from "../../core/errors.ts"
import type { CallEvent } from "../../core/events.ts"
import { problemError } from "../../core/problem.ts"
import { Resumption } from "../../core/resume.ts"
import { createSseFrameParser } from "../../http-client/sse.ts"
import type { Clock } from "../../internal/platform.ts"
import { deferred, type Deferred } from "../../internal/wait.ts"
import {
  connectionError,
  isRepeatable,
  parse,
  pathOf,
  readLines,
  resultOf,
  tooLong,
  unanswered,
} from "./exchange.ts"
import type { HTTPPeer, HTTPRequest } from "./exchange.ts"
import type { Outgoing } from "./outgoing.ts"

/** What reading a stream needs of its transport. */
export interface StreamHost {
  readonly peer: HTTPPeer
  readonly clock: Clock
  readonly retries: number
  readonly resumeMs: number
  /** Whether the request has not been abandoned. */
  readonly isOpen: (outgoing: Outgoing) => boolean
  readonly receive: (event: CallEvent) => void
  /** Passes on the last event of a request. */
  readonly deliver: (outgoing: Outgoing, event: CallEvent) => void
  /** Waits before another attempt; resolves to `false` if the request was abandoned meanwhile. */
  readonly pause: (outgoing: Outgoing, failures: number, asked?: number) => Promise<boolean>
  /** Sends a request, and reads its answer. */
  readonly send: (
    controller: AbortController,
    request: Omit<HTTPRequest, "signal">,
    read: (response: Response) => Promise<void>,
  ) => Promise<void>
  /** Everything was answered: ends the request unless the server does. Its connection is used again if it does. */
  readonly endSoon: (controller: AbortController) => void
}

/** Reads a stream, and resumes it after its last item when it was cut off. */
export async function readStream(host: StreamHost, outgoing: Outgoing): Promise<void> {
  const { peer, isOpen } = host
  const { event, input } = outgoing
  const { requestId, window = Number.POSITIVE_INFINITY } = event
  const credit = new Credit(window)
  outgoing.raise = (limit) => credit.raise(limit)
  let seq = 0
  // Of a stream that is resumed on behalf of somebody else.
  const { lastEventId, resume } = event.metadata ?? {}
  let lastId = typeof lastEventId === "string" && ID.test(lastEventId) ? lastEventId : ""
  const resumption = new Resumption()
  while (isOpen(outgoing)) {
    const controller = new AbortController()
    outgoing.cancel = () => {
      controller.abort()
      credit.raise(Number.POSITIVE_INFINITY)
    }
    const headers: Record<string, string> = outgoing.headers(host.clock.now())
    if (lastId !== "") headers["last-event-id"] = lastId
    if (seq > 0 || resume === "only") headers["x-resume"] = "only"
    const request = {
      path: pathOf(event.operationId),
      accept: "text/event-stream",
      body: input,
      headers,
    }
    const take = ({ name, data, id }: StreamEvent): Promise<void> | undefined => {
      if (!isOpen(outgoing)) return undefined
      const value = parse(peer, data)
      if (name === "error") throw problemError(value) ?? unanswered(peer)
      if (name === "end") {
        host.deliver(outgoing, { type: "call.completed", requestId, seq })
        host.endSoon(controller)
        return undefined
      }
      const deliver = (output: ResponseEnvelope): Promise<void> | undefined => {
        resumption.received()
        lastId = id
        host.receive({ type: "call.responded", requestId, output, seq: ++seq })
        return credit.wait(seq)
      }
      const result = resultOf(peer, value)
      return result instanceof Promise ? result.then(deliver) : deliver(result)
    }
    try {
      await host.send(controller, request, (response) => readEvents(peer, response, take))
      return
    } catch (thrown) {
      if (!isOpen(outgoing)) return
      controller.abort()
      const error = connectionError(peer, thrown)
      let ending: CallError | undefined = error
      if (seq > 0) {
        ending = resumption.fail(error, host.clock.now(), lastId === "" ? 0 : host.resumeMs)
      } else if (isRepeatable(error) && resumption.failures++ < host.retries) ending = undefined
      if (ending !== undefined) return host.deliver(outgoing, errorEvent(requestId, ending))
      if (!(await host.pause(outgoing, resumption.failures, error.retryAfterMs))) return
    }
  }
}

/** An event of a stream, as the gateway sends it. */
interface StreamEvent {
  /** `message` for an item, `end` or `error`. */
  readonly name: string
  readonly data: string
  /** The number of an item. */
  readonly id: string
}

/** Ids that can be sent back in a header. */
const ID = /^[ -~]{1,1024}$/

/** Reads server-sent events until the stream ends. Rejects when it was cut off. */
async function readEvents(
  peer: HTTPPeer,
  response: Response,
  take: (event: StreamEvent) => Promise<void> | void,
): Promise<void> {
  if ((response.body as unknown) === undefined) {
    const message =
      "This platform's fetch cannot read streams. Pass one that can as the option fetch."
    throw refusal("UNAVAILABLE", message, { retryable: false })
  }
  const frames = createSseFrameParser(peer.maxResponseBytes)
  let id = ""
  let isOver = false
  await readLines(peer, response, (line) => {
    const [frame] = frames.feed(`${line}\n`)
    if (frames.isOverLimit) throw tooLong(peer)
    if (frame === undefined) return undefined
    const { event: name = "message", text: data } = frame
    // An event without an id has that of the one before it.
    if (frame.id !== undefined) id = ID.test(frame.id) ? frame.id : ""
    if (!/^(?:message|end|error)$/.test(name)) return undefined
    isOver ||= name !== "message"
    return take({ name, data, id })
  })
  if (!isOver) throw unanswered(peer, "the stream was cut off")
}

/** The number of items that the consumer accepts: reading waits for it, and so does the server. */
class Credit {
  #limit: number
  #waiting: Deferred | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  raise(limit: number): void {
    if (limit > this.#limit) this.#limit = limit
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  /** Waits until more than this number of items may be delivered; `undefined` if that is so. */
  wait(count: number): Promise<void> | undefined {
    if (count < this.#limit) return undefined
    this.#waiting ??= deferred()
    return this.#waiting.promise
  }
}
