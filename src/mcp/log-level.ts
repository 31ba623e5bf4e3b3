/** Log levels of MCP, least important first. */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** In `_meta` of a modern request: the level from which its sender wants log messages. */
export const LOG_LEVEL_META = "io.modelcontextprotocol/logLevel"

/** Whether a value is an MCP log level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.includes(value as LogLevel)
}
