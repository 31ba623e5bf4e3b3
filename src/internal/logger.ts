/** Where log lines go. `console` is one; so is a logger of most logging libraries. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/**
 * The default: warnings and errors on the platform's console, the rest nowhere.
 *
 * The console is looked up per line, so that one that is replaced later is used.
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
