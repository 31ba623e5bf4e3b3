import { isCallError } from "../../core/errors.ts"
import { isPlainRecord } from "../../schema/json.ts"
import type { CommandIO } from "../model.ts"
import { printError, escapeForTerminal, styled } from "../output.ts"
import { unbroken } from "../wrap.ts"

/** Says what is wrong with an input, a fault a line; `false` when the error is about something else. */
export function printInputIssues(error: unknown, id: string, io: CommandIO): boolean {
  if (!isCallError(error, "VALIDATION_ERROR") || !isPlainRecord(error.details)) return false
  const { errors, operationId } = error.details
  // An operation that it called may have been given a wrong input, too.
  if (!Array.isArray(errors) || (operationId !== undefined && operationId !== id)) return false
  const lines = errors.flatMap((one: unknown) =>
    isPlainRecord(one) ? [`  ${pathOf(one["path"])} ${String(one["message"])}`] : [],
  )
  if (lines.length === 0) return false
  printError(io, styled(io, io.stderr).red(escapeForTerminal(`Input for "${id}" is invalid:`)))
  for (const line of lines) printError(io, escapeForTerminal(line))
  printError(
    io,
    `See what it takes: ${unbroken(`${io.program} describe ${escapeForTerminal(id)}`)}`,
  )
  return true
}

function pathOf(path: unknown): string {
  return typeof path === "string" && path !== "" ? path : "(the whole)"
}
