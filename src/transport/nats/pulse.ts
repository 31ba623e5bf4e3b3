import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"

/** Between two questions to a broker that is being sent to. */
const ASK_EVERY = 500
/** In which it has to answer, or to send anything; below what a worker is given. */
const SILENT_AFTER = 2000
/** A timer that comes this much too late says more of this process than of the broker. */
const STALL = 300
/** Sent bytes after which it is asked at once whether it has them. */
const ASK_AFTER = 1024 * 1024
/** Bytes that it may have to take; beyond that whoever produces waits. */
const MOST_WAITING = 8 * 1024 * 1024

/** What a pulse tells. */
export interface PulseEvents {
  /** The broker says nothing although it was asked: it stands still, or the way to it is cut. */
  silent(): void
  /** It says something again. */
  alive(): void
}

/** Whether a broker still takes what it is sent, and how much of it waits. Idle connections ask nothing. */
export class Pulse {
  readonly #clock: Clock
  readonly #events: PulseEvents
  #flush: (() => Promise<void>) | undefined
  /** Sent, and not covered by a question yet. */
  #uncovered = 0
  #waiting = 0
  #askedAt = 0
  #isAsking = false
  #hasHeard = false
  #isSilent = false
  #timer: unknown
  #room: { readonly promise: Promise<void>; readonly open: () => void } | undefined

  constructor(clock: Clock, events: PulseEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** A connection is there: `flush` resolves when all that was sent before has been taken. */
  start(flush: () => Promise<void>): void {
    this.stop()
    this.#flush = flush
  }

  /** It is gone, and all that waited with it. */
  stop(): void {
    this.#flush = undefined
    this.#uncovered = 0
    this.#waiting = 0
    this.#askedAt = 0
    this.#isAsking = false
    this.#isSilent = false
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#makeRoom()
  }

  sent(bytes: number): void {
    this.#uncovered += bytes
    this.#waiting += bytes
    if (this.#isAsking) return
    if (this.#uncovered >= ASK_AFTER || this.#clock.now() - this.#askedAt >= ASK_EVERY) this.#ask()
  }

  /** Something came from the broker. */
  heard(): void {
    this.#hasHeard = true
    if (!this.#isSilent) return
    this.#isSilent = false
    this.#hasHeard = false
    // Its answer is still to come, and may stay out.
    if (this.#isAsking) this.#check(SILENT_AFTER)
    this.#events.alive()
  }

  /** A promise while too much waits. */
  ready(): Promise<void> | undefined {
    if (this.#waiting <= MOST_WAITING) return undefined
    if (!this.#isAsking) this.#ask()
    this.#room ??= deferred()
    return this.#room.promise
  }

  #ask(): void {
    const flush = this.#flush
    if (flush === undefined) return
    const covered = this.#uncovered
    this.#uncovered = 0
    this.#isAsking = true
    this.#hasHeard = false
    this.#askedAt = this.#clock.now()
    this.#check(SILENT_AFTER)
    const answered = (): void => {
      // One of a connection that is gone means nothing.
      if (this.#flush !== flush) return
      this.#isAsking = false
      this.#waiting -= covered
      this.#clock.clearTimeout(this.#timer)
      this.#timer = undefined
      if (this.#waiting <= MOST_WAITING) this.#makeRoom()
      this.heard()
      if (this.#uncovered >= ASK_AFTER) this.#ask()
    }
    flush().then(answered, () => {
      // The connection went: whoever watches it says so.
    })
  }

  #check(after: number): void {
    const due = this.#clock.now() + after
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      // What has come meanwhile is read first.
      if (this.#clock.now() - due > STALL) return this.#check(STALL)
      if (this.#hasHeard) {
        this.#hasHeard = false
        return this.#check(SILENT_AFTER)
      }
      this.#isSilent = true
      this.#events.silent()
    }, after)
    setRef(this.#timer, false)
  }

  #makeRoom(): void {
    this.#room?.open()
    this.#room = undefined
  }
}

function deferred(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}
