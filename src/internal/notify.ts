import { consoleLogger, type Logger } from "./logger.ts"

/**
 * Calls a listener of the user. Errors that it throws or rejects with are logged and have no other effect.
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

const LEVELS = ["debug", "info", "warn", "error"] as const

const isolated = new WeakMap<Logger, Logger>()

/** The logger, or the console if there is none. Errors of the logger are ignored. */
export function isolatedLogger(logger: Logger | undefined): Logger {
  if (logger === undefined || logger === consoleLogger) return consoleLogger
  let wrapper = isolated.get(logger)
  if (wrapper === undefined) {
    wrapper = Object.fromEntries(
      LEVELS.map((level) => [
        level,
        (message: string, fields?: Readonly<Record<string, unknown>>) =>
          write(logger, level, message, fields),
      ]),
    ) as unknown as Logger
    isolated.set(logger, wrapper)
    isolated.set(wrapper, wrapper)
  }
  return wrapper
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
    // There is nowhere left to report it.
  }
}
