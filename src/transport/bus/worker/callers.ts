import type { Clock } from "../../../internal/platform.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import { Outbox } from "../wire/outbox.ts"
import type { BusCaller } from "../types.ts"
import { messageText } from "../wire/wire.ts"

/** What answers go out by. */
export interface CallerLink {
  readonly address: string
  readonly maxBytes: () => number
  readonly clock: Clock
  /** Deals with its own errors. */
  readonly answer: (reply: string, text: string) => void
}

/** A caller, as a worker sees it. */
export class CallerPeer {
  readonly user: string
  readonly outbox: Outbox
  /** Where answers go: what came with the last that it sent, because permission to answer wears off. */
  reply: string
  /** When it was last heard of. */
  heard = 0
  /** It is known, and found again. */
  isKept = false

  constructor({ user, reply }: BusCaller, { address, maxBytes, clock, answer }: CallerLink) {
    this.user = user
    this.reply = reply
    this.outbox = new Outbox(address, maxBytes, clock, (text) => answer(this.reply, text))
  }

  /** Says something, together with all else that it is told in this turn. */
  say(message: WorkerMessage): void {
    this.outbox.add(messageText(message))
  }
}

/** The callers that a worker has something of. */
export class CallerPeers {
  readonly #link: CallerLink
  readonly #peers = new Map<string, CallerPeer>()

  constructor(link: CallerLink) {
    this.#link = link
  }

  get size(): number {
    return this.#peers.size
  }

  /** Who sent something, just now. One who is not known stays so until `keep`. */
  heard(from: BusCaller, now: number): CallerPeer {
    const peer = this.#peers.get(keyOf(from)) ?? new CallerPeer(from, this.#link)
    peer.reply = from.reply
    peer.heard = now
    return peer
  }

  /** Knows a caller from now on. */
  keep(from: BusCaller, peer: CallerPeer): void {
    if (peer.isKept) return
    peer.isKept = true
    this.#peers.set(keyOf(from), peer)
  }

  /** They may have been heard of so much later: nobody listened. */
  excuse(milliseconds: number): void {
    const now = this.#link.clock.now()
    for (const peer of this.#peers.values()) peer.heard = Math.min(now, peer.heard + milliseconds)
  }

  /** Takes out those that said nothing for so long. */
  takeSilent(milliseconds: number): CallerPeer[] {
    const before = this.#link.clock.now() - milliseconds
    const silent: CallerPeer[] = []
    for (const [key, peer] of this.#peers) {
      if (peer.heard > before) continue
      this.#peers.delete(key)
      peer.isKept = false
      silent.push(peer)
    }
    return silent
  }

  /** Sends what waits, and knows nobody any more. */
  close(): void {
    for (const { outbox } of this.#peers.values()) outbox.flush()
    this.#peers.clear()
  }
}

/** The same address under another user is somebody else. */
function keyOf({ user, address }: BusCaller): string {
  return `${user} ${address}`
}
