import type { CallEvent } from "../call-events.ts"
import { refusal } from "../errors.ts"
import type { Transport, TransportReceiver } from "./types.ts"

/** Two ends of a link within this process: what one sends the other receives, at once. */
export function createMemoryTransports(): [Transport, Transport] {
  const left = new MemoryTransport()
  const right = new MemoryTransport()
  left.peer = right
  right.peer = left
  return [left, right]
}

class MemoryTransport implements Transport {
  readonly isLocal = true
  peer: MemoryTransport | undefined
  #receiver: TransportReceiver | undefined
  /** What came before anyone listened. */
  #early: CallEvent[] = []

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
    for (const event of this.#early.splice(0)) receiver.event(event)
  }

  send(event: CallEvent): void {
    if (this.peer === undefined) throw gone()
    this.peer.#receive(event)
  }

  async close(): Promise<void> {
    const { peer } = this
    this.#receiver = undefined
    this.peer = undefined
    if (peer === undefined) return
    peer.peer = undefined
    peer.#receiver?.lost(gone())
  }

  #receive(event: CallEvent): void {
    if (this.#receiver === undefined) this.#early.push(event)
    else this.#receiver.event(event)
  }
}

function gone(): ReturnType<typeof refusal<"UNAVAILABLE">> {
  return refusal("UNAVAILABLE", "The other end of the link was closed.")
}
