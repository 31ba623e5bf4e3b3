import type { CommandIO, Target } from "../model.ts"
import { complain, shown, styled } from "../output.ts"

/** Says on standard error which sources are not there, and why. */
export function tellFailures(io: CommandIO, { failures }: Target): void {
  const { yellow } = styled(io, io.stderr)
  for (const { name, reason } of failures) {
    complain(io, `${yellow(`Source "${shown(name)}" is not there:`)} ${shown(reason)}`)
  }
}
