import { Listeners } from "../../internal/listeners.ts"
import type { CallFate, Transport } from "../../protocol/transport.ts"

/** A transport that also reports whether its peer is reachable. */
export class WatchedTransport implements Transport {
  readonly #transport: Transport
  readonly #listeners = new Listeners<string | undefined>()

  readonly carriesQuestions: boolean | undefined

  constructor(transport: Transport) {
    this.#transport = transport
    this.carriesQuestions = transport.carriesQuestions
  }

  get resumeMs(): number | undefined {
    return this.#transport.resumeMs
  }

  open(receiver: Parameters<Transport["open"]>[0]): void {
    this.#transport.open({
      event: (event) => receiver.event(event),
      undelivered: (event, error) => receiver.undelivered(event, error),
      lost: (error) => {
        receiver.lost(error)
        this.#listeners.notify(error.message)
      },
      restored: () => {
        receiver.restored()
        this.#listeners.notify(undefined)
      },
    })
  }

  send(event: Parameters<Transport["send"]>[0]): void {
    this.#transport.send(event)
  }

  ready(): Promise<void> | undefined {
    return this.#transport.ready?.()
  }

  deliveryStatus(requestId: string): CallFate | undefined {
    return this.#transport.deliveryStatus?.(requestId)
  }

  onHealth(listener: (reason: string | undefined) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): Promise<void> {
    this.#listeners.clear()
    return this.#transport.close()
  }
}
