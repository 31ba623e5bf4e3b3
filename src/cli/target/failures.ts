import type { CommandIO, Target } from "../model.ts"
import { printError, escapeForTerminal, styled } from "../output.ts"

/** Says on standard error which sources are not there, and why. */
export function printFailures(io: CommandIO, { failures }: Target): void {
  const { yellow } = styled(io, io.stderr)
  for (const { name, reason } of failures) {
    printError(
      io,
      `${yellow(`Source "${escapeForTerminal(name)}" is not there:`)} ${escapeForTerminal(reason)}`,
    )
  }
}
