import { DeadlineTimer } from "../../internal/deadline-timer.ts"
import type { Deadlines } from "../../internal/deadlines.ts"
import type { Clock } from "../../internal/platform.ts"
import { utf8Length } from "../../internal/utf8.ts"
import type { SocketLimits } from "./limits.ts"

/** The frame that pings the peer's program; it contains no events. */
export const PING = '"ping"'
/** The frame that answers a ping: a batch without events. */
export const ALIVE = "[]"

/** A peer that can be pinged. */
export interface LivePeer {
  /** Pings its program if that answers pings, else its socket. `false` if the socket cannot be pinged. */
  ping(isAnswering: boolean): boolean
  /** There was no sign of life for `silence` milliseconds. */
  gone(silence: number): void
}

/** Settings of a `Liveness`. */
export interface LivenessSettings {
  readonly clock: Clock
  readonly limits: Pick<SocketLimits, "pingInterval">
  /** The shared timer of related connections. */
  readonly pings: Deadlines
  /** Announces that pings are answered here, instead of waiting for the peer's announcement. */
  readonly announces?: boolean | undefined
}

// Sent in the first event of an end that answers pings. Older peers ignore it.
const ANNOUNCEMENT = '"answersPings":true,'

/**
 * Watches for signs of life of one peer, and pings it once per interval.
 *
 * A socket answers pings even if its program is stuck: a frozen page, an endless loop. So a peer that announced that its
 * program answers has to do so; for any other peer, an answer of its socket counts.
 */
export class Liveness {
  readonly #peer: LivePeer
  readonly #settings: LivenessSettings
  /** The peer's program answers pings. */
  #isAnswering = false
  #announcement: "wanted" | "sent" | undefined
  #silentIntervals = 0
  readonly #timer: DeadlineTimer

  constructor(peer: LivePeer, settings: LivenessSettings) {
    this.#peer = peer
    this.#settings = settings
    this.#timer = new DeadlineTimer(settings.pings, () => this.#expire())
    if (settings.announces === true) this.#announcement = "wanted"
    this.#wait()
  }

  /** Notes that something arrived from the peer's program. */
  received(): void {
    this.#silentIntervals = 0
  }

  /** Notes that something arrived from the peer's socket. */
  receivedOnSocket(): void {
    if (!this.#isAnswering) this.#silentIntervals = 0
  }

  /** Handles a ping of the peer's program, which therefore answers pings, too. */
  pinged(): void {
    this.#isAnswering = true
    this.#announcement ??= "wanted"
  }

  /** Reads and removes the announcement in an event. */
  readEvent(event: unknown): void {
    if (this.#isAnswering || typeof event !== "object" || event === null) return
    const it = event as { answersPings?: unknown }
    if (it.answersPings !== true) return
    delete it.answersPings
    this.pinged()
  }

  /** Adds the announcement to a frame, if it was not sent yet and there is room for it. */
  announce(frame: string, maxFrameBytes: number): string {
    if (this.#announcement !== "wanted") return frame
    if (utf8Length(frame) + ANNOUNCEMENT.length > maxFrameBytes) return frame
    this.#announcement = "sent"
    return frame.replace("{", `{${ANNOUNCEMENT}`)
  }

  stop(): void {
    const { pings } = this.#settings
    this.#timer.stop()
    // No timer outlives the last connection.
    if (pings.size === 0) pings.close(() => undefined)
  }

  #expire(): void {
    const { pingInterval } = this.#settings.limits
    if (this.#silentIntervals >= 2) return this.#peer.gone(2 * pingInterval)
    this.#wait()
    if (this.#peer.ping(this.#isAnswering)) this.#silentIntervals++
  }

  #wait(): void {
    const { clock, limits } = this.#settings
    if (limits.pingInterval > 0) this.#timer.start(clock.now() + limits.pingInterval)
  }
}
