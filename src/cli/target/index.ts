import type { CommandArgs, CommandIO, Target } from "../model.ts"
import { printError, escapeForTerminal, styled } from "../output.ts"

/** Opens the target of a command: a running hub (`--hub`), or sources in this process. */
export async function openTarget(args: CommandArgs, io: CommandIO): Promise<Target> {
  const { hubAddress } = await import("./hub-address.ts")
  const hub = hubAddress(args, io)
  const { remembering } = await import("./remembered.ts")
  if (hub !== undefined) {
    const { RemoteTarget } = await import("./remote.ts")
    return remembering(new RemoteTarget(hub, io.signal), [], args, io)
  }
  const { configFor } = await import("./config.ts")
  const config = await configFor(args, io)
  const sources = config.sources.map(({ name }) => name)
  const { LocalTarget } = await import("./local.ts")
  return remembering(new LocalTarget(config, io), sources, args, io)
}

/** Why a source failed, without its name, which stands before the reason. */
export function reasonOfSource({ name, reason }: { name: string; reason: string }): string {
  const own = `Source "${name}"`
  const rest = reason.startsWith(own) ? reason.slice(own.length) : ""
  return /^[,:] /.test(rest) ? rest.slice(2) : reason
}

/** Prints failed sources and the reasons to standard error. */
export function printFailures(io: CommandIO, { failures }: Target): void {
  const { yellow } = styled(io, io.stderr)
  const [first, ...others] = failures
  if (first === undefined) return
  const names = failures.map(({ name }) => escapeForTerminal(name)).join(", ")
  const text =
    others.length === 0
      ? `${yellow(`Source "${names}" failed:`)} ${escapeForTerminal(reasonOfSource(first))}`
      : `${yellow(`${failures.length} sources failed:`)} ${names}. See why: ${io.program} doctor`
  printError(io, text)
}
