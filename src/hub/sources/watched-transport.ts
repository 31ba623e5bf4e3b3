import type { Transport } from "../../protocol/transport.ts"

/** A transport that also reports whether its peer is reachable. */
export class WatchedTransport implements Transport {
  readonly #transport: Transport
  readonly #listeners = new Set<(reason: string | undefined) => void>()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  open(receiver: Parameters<Transport["open"]>[0]): void {
    this.#transport.open({
      event: (event) => receiver.event(event),
      undelivered: (event, error) => receiver.undelivered(event, error),
      lost: (error) => {
        receiver.lost(error)
        this.#notify(error.message)
      },
      restored: () => {
        receiver.restored()
        this.#notify(undefined)
      },
    })
  }

  send(event: Parameters<Transport["send"]>[0]): void {
    this.#transport.send(event)
  }

  ready(): Promise<void> | undefined {
    return this.#transport.ready?.()
  }

  onHealth(listener: (reason: string | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#listeners.clear()
    return this.#transport.close()
  }

  #notify(reason: string | undefined): void {
    for (const listener of this.#listeners) listener(reason)
  }
}
