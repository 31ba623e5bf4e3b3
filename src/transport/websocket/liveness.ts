import type { DeadlineEntry, Deadlines } from "../../internal/deadlines.ts"
import type { Clock } from "../../internal/platform.ts"
import { utf8Length } from "./encoded.ts"

/** The frame that asks a peer's program whether it is there; it has no events. */
export const PING: string = JSON.stringify("ping")
/** The frame that answers: a batch without events. */
export const ALIVE = "[]"

/** Whether the parsed text of a frame is a ping. */
export function isPing(parsed: unknown): boolean {
  return parsed === "ping"
}

/** A peer that can be asked whether it is there. */
export interface LivePeer {
  /** Asks its program if that answers, else its socket. False where the socket cannot be asked. */
  ping(isAnswering: boolean): boolean
  /** It did not show any sign of life for so many milliseconds. */
  gone(silence: number): void
}

/** What a `Liveness` goes by. */
export interface LivenessSettings {
  readonly clock: Clock
  /** The timer of all connections that belong together. */
  readonly pings: Deadlines
  /** Milliseconds between two pings, 0 for none. */
  readonly interval: number
  /** Announces that pings are answered here, instead of waiting until the peer does. */
  readonly announces: boolean
}

// In the first event of an end that answers pings. Older peers ignore it.
const ANNOUNCEMENT = '"answersPings":true,'

/**
 * Watches for signs of life of one peer, and asks for them once in each interval.
 *
 * A socket answers pings for a program that does not run: a frozen page, a loop without end. So a peer
 * that announced that its program answers is held to that; of any other, an answer of its socket counts.
 */
export class Liveness implements DeadlineEntry {
  readonly isOver = false
  readonly #peer: LivePeer
  readonly #settings: LivenessSettings
  /** The peer's program answers pings. */
  #isAnswering = false
  #announcement: "wanted" | "sent" | undefined
  #silentIntervals = 0
  #due = 0
  // `Deadlines` keeps these.
  bucket: DeadlineEntry["bucket"]
  dueBefore: DeadlineEntry | undefined
  dueAfter: DeadlineEntry | undefined

  constructor(peer: LivePeer, settings: LivenessSettings) {
    this.#peer = peer
    this.#settings = settings
    if (settings.announces) this.#announcement = "wanted"
    this.#wait()
  }

  /** Something came from the peer's program. */
  heard(): void {
    this.#silentIntervals = 0
  }

  /** Something came from the peer's socket. */
  heardSocket(): void {
    if (!this.#isAnswering) this.#silentIntervals = 0
  }

  /** The peer's program sent a ping: whoever does so answers them, too. */
  pinged(): void {
    this.#isAnswering = true
    this.#announcement ??= "wanted"
  }

  /** Looks for the announcement in an event, and takes it out. */
  readEvent(event: unknown): void {
    if (this.#isAnswering || typeof event !== "object" || event === null) return
    const it = event as { answersPings?: unknown }
    if (it.answersPings !== true) return
    delete it.answersPings
    this.pinged()
  }

  /** A frame of events with the announcement, when that is still to be made and there is room for it. */
  announce(frame: string, maxFrameBytes: number): string {
    if (this.#announcement !== "wanted") return frame
    if (utf8Length(frame) + ANNOUNCEMENT.length > maxFrameBytes) return frame
    this.#announcement = "sent"
    return frame.replace("{", `{${ANNOUNCEMENT}`)
  }

  /** Watches no longer. */
  stop(): void {
    const { pings } = this.#settings
    pings.remove(this)
    // No timer outlives the last connection.
    if (pings.size === 0) pings.close(() => undefined)
  }

  due(): number {
    return this.#due
  }

  expire(): void {
    if (this.#silentIntervals >= 2) {
      this.#peer.gone(2 * this.#settings.interval)
      return
    }
    this.#wait()
    if (this.#peer.ping(this.#isAnswering)) this.#silentIntervals++
  }

  #wait(): void {
    const { clock, pings, interval } = this.#settings
    if (!(interval > 0)) return
    this.#due = clock.now() + interval
    pings.add(this)
  }
}
