import { isCallError } from "../../core/errors.ts"
import { isRecord } from "../../internal/guards.ts"
import { commandText } from "../command-text.ts"
import type { CommandArgs, CommandIO } from "../model.ts"
import { printError, escapeForTerminal, styled } from "../output.ts"
import { unbroken } from "../wrap.ts"

/** Prints the issues of an invalid input, one per line; `false` when the error is about something else. */
export function printInputIssues(
  error: unknown,
  id: string,
  io: CommandIO,
  args: CommandArgs,
): boolean {
  if (!isCallError(error, "VALIDATION_ERROR") || !isRecord(error.details)) return false
  const { errors, operationId } = error.details
  // The error may be about the input of a nested operation.
  if (!Array.isArray(errors) || (operationId !== undefined && operationId !== id)) return false
  const lines = errors.flatMap((one: unknown) =>
    isRecord(one) ? [`  ${pathOf(one["path"])} ${String(one["message"])}`] : [],
  )
  if (lines.length === 0) return false
  printError(io, styled(io, io.stderr).red(escapeForTerminal(`Input for "${id}" is invalid:`)))
  for (const line of lines) printError(io, escapeForTerminal(line))
  printError(
    io,
    `See what it takes: ${unbroken(`${commandText("describe", io, args)} ${escapeForTerminal(id)}`)}`,
  )
  return true
}

function pathOf(path: unknown): string {
  return typeof path === "string" && path !== "" ? path : "(the whole)"
}
