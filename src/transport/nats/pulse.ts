import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import { Room } from "../bus/room.ts"

/** The interval of flushes while messages are being sent, in milliseconds. */
const ASK_INTERVAL_MS = 500
/** The time in which the broker has to respond, in milliseconds; shorter than `silentMs` of workers. */
const SILENT_AFTER_MS = 2000
/** A timer that is late by this much shows that this process stood still, not the broker. */
const STALL_MS = 300
/** Sent bytes after which a flush is requested at once. */
const ASK_AFTER_BYTES = 1024 * 1024
/** Unconfirmed bytes beyond which producers wait. */
const MAX_WAITING = 8 * 1024 * 1024

/** Events of a `Pulse`. */
export interface PulseEvents {
  /** The broker does not respond: it stands still, or the connection is broken. */
  silent(): void
  /** It responds again. */
  alive(): void
}

/** Checks with flushes whether the broker still processes messages, and how much is unconfirmed. Idle connections are not checked. */
export class Pulse {
  readonly #clock: Clock
  readonly #events: PulseEvents
  #flush: (() => Promise<void>) | undefined
  /** Bytes sent since the last flush. */
  #uncovered = 0
  readonly #room = new Room(MAX_WAITING)
  #askedAt = 0
  #isAsking = false
  #hasReceived = false
  #isSilent = false
  #timer: unknown

  constructor(clock: Clock, events: PulseEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** Starts for a connection: `flush` resolves when the broker has processed all that was sent before. */
  start(flush: () => Promise<void>): void {
    this.stop()
    this.#flush = flush
  }

  /** Stops: the connection is gone, with all that was unconfirmed. */
  stop(): void {
    this.#flush = undefined
    this.#uncovered = 0
    this.#askedAt = 0
    this.#isAsking = false
    this.#isSilent = false
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#room.free(this.#room.used)
  }

  sent(bytes: number): void {
    this.#uncovered += bytes
    this.#room.used += bytes
    if (this.#isAsking) return
    if (this.#uncovered >= ASK_AFTER_BYTES || this.#clock.now() - this.#askedAt >= ASK_INTERVAL_MS)
      this.#ask()
  }

  /** Notes that something arrived from the broker. */
  received(): void {
    this.#hasReceived = true
    if (!this.#isSilent) return
    this.#isSilent = false
    this.#hasReceived = false
    // The flush is still unanswered, and may remain so.
    if (this.#isAsking) this.#check(SILENT_AFTER_MS)
    this.#events.alive()
  }

  /** Back pressure: a promise while too much is unconfirmed. */
  ready(): Promise<void> | undefined {
    const room = this.#room.ready()
    if (room !== undefined && !this.#isAsking) this.#ask()
    return room
  }

  #ask(): void {
    const flush = this.#flush
    if (flush === undefined) return
    const covered = this.#uncovered
    this.#uncovered = 0
    this.#isAsking = true
    this.#hasReceived = false
    this.#askedAt = this.#clock.now()
    this.#check(SILENT_AFTER_MS)
    const answered = (): void => {
      // A flush of an earlier connection is irrelevant.
      if (this.#flush !== flush) return
      this.#isAsking = false
      this.#room.free(covered)
      this.#clock.clearTimeout(this.#timer)
      this.#timer = undefined
      this.received()
      if (this.#uncovered >= ASK_AFTER_BYTES) this.#ask()
    }
    flush().then(answered, () => {
      // The connection is lost, which the link reports.
    })
  }

  #check(after: number): void {
    const due = this.#clock.now() + after
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      // Reads what arrived meanwhile first.
      if (this.#clock.now() - due > STALL_MS) return this.#check(STALL_MS)
      if (this.#hasReceived) {
        this.#hasReceived = false
        return this.#check(SILENT_AFTER_MS)
      }
      this.#isSilent = true
      this.#events.silent()
    }, after)
    setRef(this.#timer, false)
  }
}
