import { cutText } from "../../../internal/message-text.ts"
import { systemClock } from "../../../internal/clock.ts"
import {
  ENVELOPE,
  isLogLevel,
  LOG_LEVELS,
  type JsonObject,
  type LogLevel,
} from "../../../mcp/model.ts"
import type { CallingClient, ClientLog } from "../../../core/calling-client.ts"
import { withoutUndefined } from "../../../internal/own.ts"
import type { ResolvedServer } from "../config.ts"
import { clientCapabilities } from "./capabilities.ts"
import type { MCPPeer } from "./model.ts"
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

/** The call that a line belongs to. */
type LoggedCall = Pick<SessionRequest, "caller" | "client">

/** The log of one session. */
export class LogLines {
  readonly #reader: MCPLogReader | undefined
  readonly #secrets: Secrets
  /** The weight of the lowest level that a legacy server was asked for. */
  #weight = Number.POSITIVE_INFINITY
  #second = 0
  #count = 0

  constructor(reader: MCPLogReader | undefined, secrets: Secrets) {
    this.#reader = reader
    this.#secrets = secrets
  }

  get isReading(): boolean {
    return this.#reader?.isReading === true
  }

  /** The level that a legacy server has to be asked for before a call of this client; it has one for all calls. */
  levelToSet(client: CallingClient | undefined, peer: MCPPeer): string | undefined {
    const level = client?.log?.level
    if (level === undefined || peer.era === "modern" || !("logging" in peer.capabilities)) return
    if (weightOf(level) >= this.#weight) return undefined
    this.#weight = weightOf(level)
    return level
  }

  /** What a modern request says of its caller: what it can answer, and which messages are wanted. */
  wishes(client: CallingClient | undefined, server: ResolvedServer): JsonObject {
    const level = this.isReading ? "debug" : client?.log?.level
    const capabilities = client && clientCapabilities(server, client)
    return withoutUndefined({
      [ENVELOPE.clientCapabilities]: capabilities,
      [ENVELOPE.logLevel]: level,
    })
  }

  /** Handles the parameters of a `notifications/message`. */
  received(params: unknown, call: LoggedCall | undefined): void {
    const reader = this.isReading ? this.#reader : undefined
    const client = wanted(params, call?.client?.log)
    if (reader === undefined && client === undefined) return
    const second = Math.floor(systemClock.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#count = 0
    }
    if (++this.#count <= MAX_LINES) {
      reader?.read(this.#line(params, call))
      client?.send(this.#masking(params))
    } else if (this.#count === MAX_LINES + 1) {
      const text = `More than ${MAX_LINES} lines in a second: the rest of them is left out.`
      reader?.read({ level: "warning", text })
      client?.send({ level: "warning", data: text })
    }
  }

  /** Adds a line of our own. */
  warn(text: string, call: LoggedCall | undefined): void {
    this.received({ level: "warning", data: text }, call)
  }

  /** The parameters for a client, without secrets. */
  #masking(params: unknown): JsonObject {
    const level = memberOf(params, "level")
    const logger = memberOf(params, "logger")
    return {
      level: isLogLevel(level) ? level : "info",
      ...(typeof logger === "string" && { logger: this.#masked(logger) }),
      data: this.#secrets.data(memberOf(params, "data") ?? null),
    }
  }

  #line(params: unknown, call: LoggedCall | undefined): MCPLogLine {
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

/** The log of a client, if it wants a line. */
function wanted(params: unknown, log: ClientLog | undefined): ClientLog | undefined {
  const level = memberOf(params, "level")
  const weight = isLogLevel(level) ? weightOf(level) : weightOf("info")
  return log !== undefined && weight >= weightOf(log.level) ? log : undefined
}

/** How important a level is. */
function weightOf(level: string): number {
  return LOG_LEVELS.indexOf(level as LogLevel)
}
