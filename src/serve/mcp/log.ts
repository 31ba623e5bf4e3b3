import { redact, redactText } from "../../internal/redact.ts"
import type { Logger } from "../../internal/logger.ts"
import { LOG_LEVELS } from "../../mcp/log-level.ts"
import type { LogLevel } from "../../mcp/log-level.ts"

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
  const from = LOG_LEVELS.indexOf(threshold)
  const write =
    (level: LogLevel, local: keyof Logger): Logger["info"] =>
    (message, fields) => {
      own[local](message, fields)
      if (LOG_LEVELS.indexOf(level) < from) return
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
