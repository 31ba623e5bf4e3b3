/** Receives log lines. `console` is one, and so are the loggers of most libraries. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/**
 * The default: warnings and errors go to the platform's console, all other levels are dropped.
 *
 * The console is looked up for each line, so that a replaced console is used.
 */
export const consoleLogger: Logger = {
  debug() {},
  info() {},
  warn(message, fields) {
    write("warn", message, fields)
  },
  error(message, fields) {
    write("error", message, fields)
  },
}

/** A logger that adds fields to each line, and reports it. */
export function withFields(
  logger: Logger,
  fields: object | undefined,
  onLine: (level: keyof Logger, message: string) => void,
): Logger {
  const level =
    (name: keyof Logger): Logger["info"] =>
    (message, own) => {
      onLine(name, message)
      if (fields === undefined) logger[name](message, own)
      else logger[name](message, { ...own, ...fields })
    }
  return { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") }
}

/** Drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

function write(
  level: "warn" | "error",
  message: string,
  fields: Readonly<Record<string, unknown>> | undefined,
): void {
  if (fields === undefined) globalThis.console?.[level](message)
  else globalThis.console?.[level](message, fields)
}
