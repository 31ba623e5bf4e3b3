import type { CallEvent } from "../../../src/core/events.ts"
import type { CallerMessage, WorkerMessage } from "../../../src/transport/bus/wire/messages.ts"
import { hashOperationId, readCallerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { frameText, messageText } from "../bus/messages.ts"
import type { Addresses, Received, Raw } from "./lab.ts"

type Go = CallerMessage & { readonly type: "go" }

/** A worker of the right user and with the wrong intentions: it accepts what it is asked, and does as it likes. */
export class EvilWorker {
  readonly address: string
  readonly #raw: Raw
  readonly #at: Addresses
  readonly #granted: (request: Go, reply: (text: string) => Promise<boolean>) => void
  readonly #serves: string

  constructor(
    raw: Raw,
    at: Addresses,
    parts: {
      readonly address: string
      readonly serves: string
      /** A call was granted to it. */
      readonly granted: (request: Go, reply: (text: string) => Promise<boolean>) => void
    },
  ) {
    this.#raw = raw
    this.#at = at
    this.address = parts.address
    this.#serves = parts.serves
    this.#granted = parts.granted
  }

  async start(): Promise<void> {
    const onReceived = (received: Received): void => this.#received(received)
    for (const [to, options] of this.#at.ofWorker(this.address, this.#serves)) {
      const { isPermitted } = await this.#raw.listen(to, { ...options, onReceived })
      if (!isPermitted) throw new Error(`It may not listen to ${to}.`)
    }
    await this.#raw.publish(this.#at.news, this.#frame(this.#here()))
  }

  #here(): WorkerMessage {
    return { type: "here", operations: { [hashOperationId(this.#serves)]: 0 } }
  }

  #received(received: Received): void {
    const to = this.#at.replyTo(received)
    const reply = (text: string): Promise<boolean> => this.#raw.publish(to, text)
    for (const message of readCallerFrame(received.text)?.messages ?? []) {
      if (message.type === "who") void reply(this.#frame(this.#here()))
      if (message.type === "ping") {
        void reply(this.#frame({ type: "pong", unknown: [], lost: [] }))
      }
      if (message.type === "request") void reply(this.#frame(accepted(message)))
      if (message.type === "go") this.#granted(message, reply)
    }
  }

  #frame(message: WorkerMessage): string {
    return frameText(this.address, [messageText(message)])
  }
}

/** Events of a worker, in one frame. */
export function eventsText(from: string, events: readonly CallEvent[]): string {
  return frameText(
    from,
    events.map((event) => messageText({ type: "event", event })),
  )
}

function accepted(message: CallerMessage & { readonly type: "request" }): WorkerMessage {
  const { attempt, event } = message
  return { type: "accepted", id: event.requestId, attempt, key: "k", isIdempotent: false }
}
