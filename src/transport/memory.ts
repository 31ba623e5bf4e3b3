import type { CallEvent } from "../core/events.ts"
import { refusal } from "../core/errors.ts"
import type { Transport, TransportReceiver } from "../protocol/transport.ts"

/** Two ends of a link within this process: what one end sends, the other receives immediately. */
export function createMemoryTransports(): [Transport, Transport] {
  const left = new MemoryTransport()
  const right = new MemoryTransport()
  left.peer = right
  right.peer = left
  return [left, right]
}

class MemoryTransport implements Transport {
  readonly isLocal = true
  readonly carriesQuestions = true
  peer: MemoryTransport | undefined
  #receiver: TransportReceiver | undefined
  /** Events that arrived before `open`; `undefined` afterwards. */
  #early: CallEvent[] | undefined = []

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
    // Deferred: the user of the transport may attach its request handler after `open`.
    if (this.#early !== undefined) queueMicrotask(() => this.#catchUp())
  }

  send(event: CallEvent): void {
    if (this.peer === undefined) throw gone()
    this.peer.#receive(event)
  }

  async close(): Promise<void> {
    const { peer } = this
    const receiver = this.#receiver
    this.#receiver = undefined
    this.peer = undefined
    if (peer === undefined) return
    peer.peer = undefined
    peer.#receiver?.lost(gone())
    receiver?.lost(gone())
  }

  #receive(event: CallEvent): void {
    if (this.#early === undefined) this.#receiver?.event(event)
    else this.#early.push(event)
  }

  #catchUp(): void {
    const events = this.#early ?? []
    // Events that arrive meanwhile are appended.
    for (const event of events) this.#receiver?.event(event)
    this.#early = undefined
  }
}

function gone(): ReturnType<typeof refusal<"UNAVAILABLE">> {
  return refusal("UNAVAILABLE", "The other end of the link was closed.")
}
