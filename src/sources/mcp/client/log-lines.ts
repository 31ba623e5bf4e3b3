import { cutText } from "../../../internal/message-text.ts"
import { systemClock } from "../../../internal/clock.ts"
import { isLogLevel, type LogLevel } from "../../../mcp/model.ts"
import { memberOf } from "./sdk.ts"
import type { Secrets } from "./mask.ts"
import type { SessionRequest } from "./running-request.ts"

/** What a server logged, without secrets and cut to a maximum length. */
export interface MCPLogLine {
  readonly level: LogLevel
  /** The part of the server that wrote it, in the server's own words. */
  readonly logger?: string | undefined
  readonly text: string
  /** The call that was running, if it was the only one: the protocol does not say which one a line belongs to. */
  readonly requestId?: string | undefined
}

/** Receives what a server logs. */
export interface MCPLogReader {
  /** Whether anything reads the lines. Otherwise none are requested, and those that come are dropped. */
  readonly isReading: boolean
  read(line: MCPLogLine): void
}

/** Lines of a session in one second; further ones are dropped. */
const MAX_LINES = 100
const MAX_TEXT = 2000
const MAX_LOGGER = 100
/** Characters that are searched for secrets. */
const MAX_SEARCHED = 16_384

/** The log of one session. */
export class LogLines {
  readonly #reader: MCPLogReader | undefined
  readonly #secrets: Secrets
  #second = 0
  #count = 0

  constructor(reader: MCPLogReader | undefined, secrets: Secrets) {
    this.#reader = reader
    this.#secrets = secrets
  }

  get isReading(): boolean {
    return this.#reader?.isReading === true
  }

  /** Handles the parameters of a `notifications/message`. */
  received(params: unknown, call: Pick<SessionRequest, "caller"> | undefined): void {
    const reader = this.#reader
    if (reader?.isReading !== true) return
    const second = Math.floor(systemClock.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#count = 0
    }
    if (++this.#count <= MAX_LINES) reader.read(this.#line(params, call))
    else if (this.#count === MAX_LINES + 1) {
      const text = `More than ${MAX_LINES} lines in a second: the rest of them is left out.`
      reader.read({ level: "warning", text })
    }
  }

  /** Adds a line of our own. */
  warn(text: string, call: Pick<SessionRequest, "caller"> | undefined): void {
    this.received({ level: "warning", data: text }, call)
  }

  #line(params: unknown, call: Pick<SessionRequest, "caller"> | undefined): MCPLogLine {
    const level = memberOf(params, "level")
    const logger = memberOf(params, "logger")
    const data = memberOf(params, "data")
    const requestId = call?.caller?.requestId
    return {
      level: isLogLevel(level) ? level : "info",
      ...(typeof logger === "string" && { logger: cutText(this.#masked(logger), MAX_LOGGER) }),
      text: cutText(this.#masked(data), MAX_TEXT),
      ...(requestId !== undefined && { requestId }),
    }
  }

  #masked(value: unknown): string {
    if (typeof value === "string") return this.#secrets.text(value.slice(0, MAX_SEARCHED))
    return JSON.stringify(this.#secrets.data(value)) ?? ""
  }
}
