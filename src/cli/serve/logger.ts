import type { Logger } from "../../internal/logger.ts"
import type { CommandIO } from "../model.ts"
import { printError, jsonText, oneLine, escapeForTerminal, styled } from "../output.ts"

/** Log lines on standard error: errors always, the rest under `--verbose`. */
export function commandLogger(io: CommandIO): Logger {
  const { dim, red } = styled(io, io.stderr)
  const write = (
    colour: (text: string) => string,
    message: string,
    fields?: Readonly<Record<string, unknown>>,
  ): void => printError(io, colour(oneLine(`${message}${fieldsText(fields)}`)))
  const details: Logger["info"] = (message, fields) => {
    if (io.verbose === true) write(dim, message, fields)
  }
  return {
    debug() {},
    info: details,
    warn: details,
    error: (message, { stack, ...fields } = {}) => {
      write(red, message, Object.keys(fields).length === 0 ? undefined : fields)
      // The stack of a failed operation, over several lines.
      if (typeof stack === "string") printError(io, dim(escapeForTerminal(stack)))
    },
  }
}

/** The fields of a log line as JSON; empty when there are none, or they have no JSON. */
function fieldsText(fields: Readonly<Record<string, unknown>> | undefined): string {
  if (fields === undefined) return ""
  try {
    return ` ${jsonText(fields)}`
  } catch {
    return ""
  }
}
