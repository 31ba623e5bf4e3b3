import { redact, redactText } from "../internal/redact.ts"
import type { Logger } from "../internal/logger.ts"

/** A logger that masks secrets before they are logged. */
export function maskedLogger(logger: Logger, mask: (text: string) => string): Logger {
  const line =
    (level: keyof Logger): Logger["warn"] =>
    (message, fields) => {
      const text = mask(redactText(message))
      if (fields === undefined) logger[level](text)
      else logger[level](text, masked(redact(fields), mask) as Readonly<Record<string, unknown>>)
    }
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") }
}

/** A copy of JSON data with every text masked. */
function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value)
  if (Array.isArray(value)) return value.map((item) => masked(item, mask))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, mask)]))
}
