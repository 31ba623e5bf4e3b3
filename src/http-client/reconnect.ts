import { changedError } from "../core/error-changes.ts"
import { isCallError } from "../core/errors.ts"
import { systemClock } from "../internal/clock.ts"
import type { Clock } from "../internal/platform.ts"
import { backOff, withJitter } from "../internal/back-off.ts"
import { pause } from "../internal/wait.ts"
import { readEvents, type ReadEventsOptions, type StreamEvent } from "./events.ts"
import { abortError } from "./request-errors.ts"

/** When a lost stream is reopened. */
export interface ReconnectPolicy {
  /** Maximum number of consecutive attempts without an event. */
  readonly maxAttempts: number
  /**
   * The first delay, unless the server sends one (at least a second). It doubles with each attempt until a
   * connection has lasted ten seconds.
   */
  readonly delayMs: number
  readonly maxDelayMs: number
}

/** Minimum delay for a server's `retry`: with `retry: 0` clients would reconnect without a pause. */
const MIN_SERVER_DELAY = 1000
/** Milliseconds after which a connection counts as stable. */
const STABLE_AFTER = 10_000

/** How events are followed. */
export interface FollowEventsOptions extends Omit<ReadEventsOptions, "onRetry"> {
  readonly reconnect: ReconnectPolicy
  readonly clock?: Clock | undefined
  /** Returns a number from 0 to 1, for jitter. */
  readonly random?: (() => number) | undefined
}

/** Opens the stream after the event with that id; `null` when there are no more events. */
export type OpenEvents = (
  lastEventId: string | undefined,
) => Promise<ReadableStream<Uint8Array> | null>

/**
 * Reads server-sent events and reconnects as often as necessary.
 *
 * A connection that is lost or ends is reopened with the id of the last event; `[DONE]`, or `null` from
 * `open`, ends the stream. Errors of the first `open` are thrown; later, only errors that a retry cannot fix,
 * or the last one when `maxAttempts` is exceeded.
 */
export async function* followEvents(
  open: OpenEvents,
  options: FollowEventsOptions,
): AsyncGenerator<StreamEvent, void, void> {
  const { reconnect, clock = systemClock, signal, mayHaveEffect = false } = options
  let lastEventId: string | undefined
  let serverDelay: number | undefined
  let attempts = 0
  /** Connections since the last stable one: determines the delay. */
  let unstable = 0
  let wasOpen = false
  for (;;) {
    let lost: unknown
    let openedAt: number | undefined
    try {
      const body = await open(lastEventId)
      if (body === null) return
      wasOpen = true
      openedAt = clock.now()
      const onRetry = (milliseconds: number): void => void (serverDelay = milliseconds)
      const events = readEvents(body, "sse", { ...options, onRetry })
      try {
        for (let next = await events.next(); ; next = await events.next()) {
          if (next.done && next.value === "done") return
          if (next.done) break
          attempts = 0
          // An empty id resets the last one.
          if (next.value.id !== undefined) lastEventId = next.value.id || undefined
          yield next.value
        }
      } finally {
        await events.return("end")
      }
    } catch (thrown) {
      if (!wasOpen || !isRecoverable(thrown) || signal.aborted) throw thrown
      lost = thrown
    }
    if (openedAt !== undefined && clock.now() - openedAt >= STABLE_AFTER) unstable = 0
    attempts++
    unstable++
    if (attempts > reconnect.maxAttempts) {
      if (lost === undefined) return
      throw giveUpError(lost, reconnect.maxAttempts)
    }
    await pause(delayOf(unstable, serverDelay, lost, options), { clock, signal })
    if (signal.aborted) throw abortError({ ...options, mayHaveEffect })
  }
}

/** An event's id as a header value: UTF-8, one character for each byte, as `fetch` takes it. */
export function lastEventIdHeader(id: string): string {
  return Array.from(new TextEncoder().encode(id), (byte) => String.fromCharCode(byte)).join("")
}

function isRecoverable(thrown: unknown): boolean {
  return isCallError(thrown) && (thrown.retryable || thrown.code === "UNAVAILABLE")
}

function giveUpError(lost: unknown, attempts: number): unknown {
  if (!isCallError(lost) || attempts === 0) return lost
  const message = `${lost.message} The stream could not be resumed in ${attempts} attempts.`
  return changedError(lost, { message, cause: lost })
}

function delayOf(
  attempt: number,
  serverDelay: number | undefined,
  lost: unknown,
  { reconnect, random = Math.random }: FollowEventsOptions,
): number {
  const { delayMs, maxDelayMs } = reconnect
  const asked = isCallError(lost) ? lost.retryAfterMs : undefined
  // Retrying earlier than the server allows is useless, and waiting that long does not help the caller.
  if (asked !== undefined && asked > maxDelayMs) throw lost
  const named = Math.min(serverDelay ?? delayMs, maxDelayMs)
  const base = serverDelay === undefined ? named : Math.max(named, MIN_SERVER_DELAY)
  const delay = withJitter(backOff(attempt, base, Math.max(maxDelayMs, base)), random)
  return Math.max(delay, asked ?? 0, serverDelay === undefined ? 0 : base)
}
