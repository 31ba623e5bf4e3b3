import { ERROR_CODES, isCallError, type ErrorCode } from "../core/errors.ts"
import { HIDDEN_MESSAGE } from "../internal/error-text.ts"
import { UsageError, type CommandArgs, type CommandIO } from "./model.ts"
import { printError, jsonText, escapeForTerminal, styled } from "./output.ts"
import { commandText } from "./command-text.ts"
import { unbroken } from "./wrap.ts"

/** The exit code of an error: 1 the operation failed, 2 the command was wrong. */
function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  if (!isCallError(error)) return 1
  return Object.hasOwn(ERROR_CODES, error.code) ? ERROR_CODES[error.code as ErrorCode].exitCode : 1
}

/** The command line that an error is reported for. */
export interface ErrorContext {
  /** Report as JSON. */
  isJson: boolean
  /** The failed command, to point to its help. */
  command?: string | undefined
  /** Its arguments, if they were parsed. */
  args?: CommandArgs | undefined
}

/** Prints an error and what to do about it to standard error; returns the exit code. */
export function reportError(error: unknown, io: CommandIO, context: ErrorContext): number {
  const { isJson } = context
  if (isJson) {
    // On one line, also at a terminal: it is for programs.
    io.stderr.write(`${jsonText({ error: errorJson(error) })}\n`)
    return exitCodeOf(error)
  }
  const { red } = styled(io, io.stderr)
  const [first = "", ...rest] = messageOf(error).split("\n")
  printError(io, [red(first), ...rest].join("\n"))
  const cure = cureOf(error, io, context)
  if (cure !== undefined) printError(io, cure)
  if (io.verbose === true && error instanceof Error && !(error instanceof UsageError)) {
    printError(io, escapeForTerminal(error.stack ?? ""))
  }
  return exitCodeOf(error)
}

function messageOf(error: unknown): string {
  if (error instanceof Error && error.message !== "") return escapeForTerminal(error.message)
  return `The command failed: ${escapeForTerminal(String(error))}`
}

/** The next step, if the message does not contain one. */
function cureOf(
  error: unknown,
  io: CommandIO,
  { command, args }: ErrorContext,
): string | undefined {
  if (error instanceof UsageError) {
    const words = [io.program, ...(command === undefined ? [] : [command]), "--help"]
    return `See how it is used: ${unbroken(words.join(" "))}`
  }
  if (isCallError(error) && error.message === HIDDEN_MESSAGE && error.requestId !== undefined) {
    return `The log of the server has more, under the request id ${escapeForTerminal(error.requestId)}.`
  }
  if (isCallError(error, "OPERATION_NOT_FOUND")) {
    return `See what there is: ${commandText("list", io, args)}`
  }
  return undefined
}

function errorJson(error: unknown): unknown {
  if (isCallError(error)) {
    // The issues of a `ConfigError`, with their places.
    const { faults } = error as { faults?: unknown }
    return Array.isArray(faults) ? { ...error.toJSON(), faults } : error.toJSON()
  }
  const code = error instanceof UsageError ? "USAGE_ERROR" : "UNKNOWN_ERROR"
  return { code, message: messageOf(error) }
}
