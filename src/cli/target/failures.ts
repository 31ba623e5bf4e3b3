import type { CommandIO, Target } from "../model.ts"
import { printError, escapeForTerminal, styled } from "../output.ts"

/** Prints failed sources and the reasons to standard error. */
export function printFailures(io: CommandIO, { failures }: Target): void {
  const { yellow } = styled(io, io.stderr)
  for (const { name, reason } of failures) {
    printError(
      io,
      `${yellow(`Source "${escapeForTerminal(name)}" failed:`)} ${escapeForTerminal(reason)}`,
    )
  }
}
