import { redact, redactText } from "../../internal/redact.ts"
import type { Logger } from "../../internal/logger.ts"

/** Log levels of MCP, least important first. */
const LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const

export type LogLevel = (typeof LEVELS)[number]

/** Whether a value is an MCP log level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return LEVELS.includes(value as LogLevel)
}

/** A log message to a client. */
export interface LogLine {
  readonly level: LogLevel
  readonly logger: string
  readonly data: unknown
}

/** A logger that also sends messages from a level on to a client, with secrets masked. */
export function clientLog(
  tool: string,
  threshold: LogLevel,
  own: Logger,
  send: (line: LogLine) => void,
): Logger {
  const from = LEVELS.indexOf(threshold)
  const write =
    (level: LogLevel, local: keyof Logger): Logger["info"] =>
    (message, fields) => {
      own[local](message, fields)
      if (LEVELS.indexOf(level) < from) return
      const text = redactText(String(message))
      const data = fields === undefined ? text : { message: text, ...(redact(fields) as object) }
      send({ level, logger: tool, data })
    }
  return {
    debug: write("debug", "debug"),
    info: write("info", "info"),
    warn: write("warning", "warn"),
    error: write("error", "error"),
  }
}
