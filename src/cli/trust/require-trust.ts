import { UsageError, type CommandArgs, type CommandIO } from "../model.ts"
import { oneLine, printText } from "../output.ts"
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
    const { consequencesOf } = await import("./consequences.ts")
    const consequences = await consequencesOf(file, io)
    if (await isAgreed(`${shown} is new or has changed. Opening it:`, consequences, io)) {
      return await trustFile(file, io)
    }
    throw new UsageError(`${shown} is not trusted, and was not opened.`)
  }
  throw new UsageError(
    `${shown} is new or has changed, and is not opened before you trust it: a configuration can run programs and send files and variables.\n` +
      `See what it does: ${io.program} trust --dry-run\n` +
      `Trust it: ${io.program} trust --yes\n` +
      `Just this once: --trust, or OPERATIONS_TRUST=1 in the environment`,
  )
}

/** Shows what opening a configuration does; `true` if the user agrees, with `--yes` or at the terminal. */
export async function showAndAsk(
  title: string,
  consequences: readonly string[],
  args: CommandArgs,
  io: CommandIO,
): Promise<boolean> {
  const [isDry, isYes] = [args.flag("dry-run"), args.flag("yes")]
  if (!isDry && !isYes && canAsk(args, io)) return await isAgreed(title, consequences, io)
  if (!args.flag("json")) for (const line of linesOf(title, consequences)) printText(io, line)
  return isYes && !isDry
}

async function isAgreed(
  title: string,
  consequences: readonly string[],
  io: CommandIO,
): Promise<boolean> {
  return await withTerminal(io, async (terminal) => {
    for (const line of linesOf(title, consequences)) terminal.print(line)
    const answer = await terminal.ask("Trust it as it is now? [y/N] ")
    return /^y(?:es)?$/i.test(answer.trim())
  })
}

function linesOf(title: string, consequences: readonly string[]): readonly string[] {
  return [title, ...consequences.map((line) => `  ${line}`)]
}
