// What a running call reports to its client: progress and log messages.

import { systemClock } from "../../internal/clock.ts"
import { setRef } from "../../internal/defer.ts"
import { pause } from "../../internal/wait.ts"
import { redact, redactText } from "../../internal/redact.ts"
import type { ClientLog } from "../../core/calling-client.ts"
import type { Logger } from "../../internal/logger.ts"
import { LOG_LEVELS, type LogLevel, type JsonObject } from "../../mcp/model.ts"
import type { ProgressUpdate } from "../../core/types.ts"
import { TokenBuckets } from "../../policy/token-buckets.ts"
import { notification } from "./messages.ts"
import type { Exchange } from "./peer.ts"

/** Updates that may be sent at once, and how fast that allowance refills. */
const BURST = 200
const PER_SECOND = 50
/**
 * Between the last update and the result: clients of the SDK lose an update that they read together with the result. Over
 * standard input and output, a turn between the two is not enough.
 */
const APART_MS = 10

/**
 * Sends progress with increasing values and a limited rate.
 *
 * After a burst only the latest update is kept, and sent when the rate allows or the call ends.
 */
export class ProgressSender {
  readonly #send: (value: ProgressUpdate) => void
  #last = Number.NEGATIVE_INFINITY
  readonly #room = new TokenBuckets(PER_SECOND, BURST)
  #sentAt = Number.NEGATIVE_INFINITY
  #waiting: ProgressUpdate | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(send: (value: ProgressUpdate) => void) {
    this.#send = (value) => {
      this.#sentAt = systemClock.now()
      send(value)
    }
  }

  readonly report = (value: ProgressUpdate): void => {
    if (!(value.progress > this.#last)) return
    this.#last = value.progress
    if (this.#waiting === undefined && this.#room.take("", systemClock.now(), 0) >= 0) {
      this.#send(value)
      return
    }
    this.#waiting = value
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.flush(), 1000 / PER_SECOND)
    setRef(this.#timer, false)
  }

  /** Sends the waiting update, and lets the result follow a little later. */
  async end(): Promise<void> {
    this.flush()
    const passed = systemClock.now() - this.#sentAt
    if (passed < APART_MS) await pause(APART_MS - passed)
  }

  /** Sends the waiting update. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const value = this.#waiting
    this.#waiting = undefined
    if (value !== undefined) this.#send(value)
  }
}

/** A sender of progress, if the caller sent a progress token. */
export function progressOf(
  meta: JsonObject | undefined,
  exchange: Exchange,
): ProgressSender | undefined {
  const progressToken = meta?.["progressToken"]
  if (progressToken === undefined) return undefined
  return new ProgressSender(({ progress, total, message }) => {
    const params = { progressToken, progress, total, message }
    exchange.send(notification("notifications/progress", params))
  })
}

/** Sends what an imported server logs during a call on to the client, as the server wrote it. */
export function upstreamLog(threshold: LogLevel, exchange: Exchange): ClientLog {
  return {
    level: threshold,
    send: (params) => exchange.send(notification("notifications/message", params)),
  }
}

/** A logger that also sends messages from a level on to a client, with secrets masked. */
export function logOf(
  logger: string,
  threshold: LogLevel,
  own: Logger,
  exchange: Exchange,
): Logger {
  const from = LOG_LEVELS.indexOf(threshold)
  const write =
    (level: LogLevel, local: keyof Logger): Logger["info"] =>
    (message, fields) => {
      own[local](message, fields)
      if (LOG_LEVELS.indexOf(level) < from) return
      const text = redactText(String(message))
      const data = fields === undefined ? text : { message: text, ...(redact(fields) as object) }
      exchange.send(notification("notifications/message", { level, logger, data }))
    }
  return {
    debug: write("debug", "debug"),
    info: write("info", "info"),
    warn: write("warning", "warn"),
    error: write("error", "error"),
  }
}
