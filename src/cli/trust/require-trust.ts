import { UsageError } from "../model.ts"
import type { CommandArgs, CommandIO } from "../model.ts"
import { oneLine } from "../output.ts"
import { canAsk, withTerminal } from "../prompt/terminal.ts"
import { isOfAnother, isTrusted, trustFile } from "./store.ts"

/**
 * Resolves when the user agrees to open a configuration that was found automatically: it can run programs, and send
 * files and variables anywhere. Asks once at a terminal; throws a `UsageError` without consent.
 */
export async function requireTrust(file: string, args: CommandArgs, io: CommandIO): Promise<void> {
  const shown = oneLine(file)
  if (await isOfAnother(file)) {
    throw new UsageError(
      `${shown} belongs to another user and is not opened. If you mean it, name it: --config ${shown}`,
    )
  }
  if (args.flag("trust") || io.env["OPERATIONS_TRUST"] === "1") return
  if (await isTrusted(file, io)) return
  if (canAsk(args, io)) {
    if (await isAgreed(file, io)) return await trustFile(file, io)
    throw new UsageError(`${shown} is not trusted, and was not opened.`)
  }
  throw new UsageError(
    `${shown} is new or has changed, and is not opened before you trust it: a configuration can run programs and send files and variables.\n` +
      `See what it does, and trust it: ${io.program} trust\n` +
      `Just this once: --trust, or OPERATIONS_TRUST=1 in the environment`,
  )
}

/** Shows what a configuration would do, and asks for consent. */
async function isAgreed(file: string, io: CommandIO): Promise<boolean> {
  const { consequencesOf } = await import("./consequences.ts")
  const lines = await consequencesOf(file, io)
  return await withTerminal(io, async (terminal) => {
    terminal.print(`${oneLine(file)} is new or has changed. Opening it:`)
    for (const line of lines) terminal.print(`  ${line}`)
    const answer = await terminal.ask("Trust it as it is now? [y/N] ")
    return /^y(?:es)?$/i.test(answer.trim())
  })
}
