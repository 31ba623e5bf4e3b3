import { consoleLogger, silentLogger } from "./logger.ts"
import type { Logger } from "./logger.ts"

/**
 * Calls a listener of somebody else's. What it throws, or rejects with, is logged and changes nothing else.
 *
 * `what` is the message of the log line: `"A listener of onCall threw"`.
 */
export function notify(
  logger: Logger,
  what: string,
  listener: () => unknown,
  fields?: Readonly<Record<string, unknown>>,
): void {
  const failed = (error: unknown): void => logger.error(what, { ...fields, error })
  try {
    const returned = listener()
    // An async listener is not waited for, but it must not end the process.
    if (returned instanceof Promise) returned.catch(failed)
  } catch (error) {
    failed(error)
  }
}

const isolated = new WeakMap<Logger, Logger>()

/** The logger that was given, or the console; one that throws or rejects loses its lines and breaks nothing else. */
export function isolatedLogger(given: Logger | undefined): Logger {
  if (given === undefined || given === consoleLogger) return consoleLogger
  if (given === silentLogger) return given
  let logger = isolated.get(given)
  if (logger === undefined) {
    logger = {
      debug: (message, fields) => write(given, "debug", message, fields),
      info: (message, fields) => write(given, "info", message, fields),
      warn: (message, fields) => write(given, "warn", message, fields),
      error: (message, fields) => write(given, "error", message, fields),
    }
    isolated.set(given, logger)
    isolated.set(logger, logger)
  }
  return logger
}

function write(
  logger: Logger,
  level: keyof Logger,
  message: string,
  fields: Readonly<Record<string, unknown>> | undefined,
): void {
  try {
    const returned: unknown =
      fields === undefined ? logger[level](message) : logger[level](message, fields)
    if (returned instanceof Promise) returned.catch(() => undefined)
  } catch {
    // There is nowhere left to say so.
  }
}
