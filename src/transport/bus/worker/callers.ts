import type { BusContext } from "../options.ts"
import { messageText, type WholeMessage } from "../wire/messages.ts"
import { Outbox } from "../wire/frames.ts"
import { Room } from "../room.ts"
import type { MessageOrigin } from "../types.ts"

/**
 * Characters of stream items that a caller may not have received yet, of all its streams.
 *
 * Pongs and results wait behind them, and brokers cut off subscribers that are far behind.
 */
const MAX_UNRECEIVED = 2 * 1024 * 1024

/** A caller, as the worker knows it. */
export class CallerPeer {
  readonly user: string
  readonly outbox: Outbox
  /** The stream items that it has not received. */
  readonly items: Room = new Room(MAX_UNRECEIVED)
  /** The reply address of its last message, because the permission to answer expires. */
  reply: string
  lastSeenAt = 0
  /** It is remembered for later messages. */
  isKept = false

  constructor({ user, reply }: MessageOrigin, { bus, clock, logger }: BusContext) {
    this.user = user
    this.reply = reply
    const send = (text: string): void => {
      try {
        bus.answer(this.reply, text)
      } catch (error) {
        // Answers are kept, and sent again when the caller asks.
        logger.debug("An answer could not be sent", { bytes: text.length, error })
      }
    }
    this.outbox = new Outbox(bus, clock, send)
  }

  /** Sends a message, in one frame with the others of this turn. */
  send(message: WholeMessage): void {
    this.outbox.add(messageText(message))
  }
}

/** The callers whose requests a worker has. */
export class CallerPeers {
  readonly #context: BusContext
  readonly #peers = new Map<string, CallerPeer>()

  constructor(context: BusContext) {
    this.#context = context
  }

  get size(): number {
    return this.#peers.size
  }

  /** The sender of a message. A new one is not remembered until `keep`. */
  receivedFrom(from: MessageOrigin, now: number): CallerPeer {
    const known = this.#peers.get(keyOf(from))
    const peer = known ?? new CallerPeer(from, this.#context)
    peer.reply = from.reply
    peer.lastSeenAt = now
    return peer
  }

  keep(from: MessageOrigin, peer: CallerPeer): void {
    if (peer.isKept) return
    peer.isKept = true
    this.#peers.set(keyOf(from), peer)
  }

  /** Does not count this time as silence: this end could not receive anything. */
  extendSilence(milliseconds: number): void {
    const now = this.#context.clock.now()
    for (const peer of this.#peers.values())
      peer.lastSeenAt = Math.min(now, peer.lastSeenAt + milliseconds)
  }

  /** Removes and returns the callers that were silent for this long. */
  takeSilent(milliseconds: number): CallerPeer[] {
    const before = this.#context.clock.now() - milliseconds
    const silent: CallerPeer[] = []
    for (const [key, peer] of this.#peers) {
      if (peer.lastSeenAt > before) continue
      this.#peers.delete(key)
      peer.isKept = false
      silent.push(peer)
    }
    return silent
  }

  /** Sends queued messages, and forgets all callers. */
  close(): void {
    for (const { outbox } of this.#peers.values()) outbox.flush()
    this.#peers.clear()
  }
}

/** The same address under another user is another caller. */
function keyOf({ user, address }: MessageOrigin): string {
  return `${user} ${address}`
}
