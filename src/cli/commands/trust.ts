import { resolve } from "node:path"
import { findConfig } from "../../hub/config-file/find.ts"
import { UsageError, type CommandDefinition, type CommandArgs, type CommandIO } from "../model.ts"
import { note, oneLine, printJson, printText } from "../output.ts"
import { consequencesOf } from "../trust/consequences.ts"
import { showAndAsk } from "../trust/require-trust.ts"
import { distrustFile, isOfAnother, trustedFiles, trustFile } from "../trust/store.ts"

export const command: CommandDefinition = {
  usage: "[file]",
  details: [
    "Shows what opening a configuration runs and sends, asks, and remembers that you trust it as it is now;",
    "after a change you are asked again. Configurations that --config names need no trust.",
  ].join(" "),
  examples: [
    ["trust", "the configuration here or above"],
    ["trust --dry-run", "only show what it does"],
    ["trust --list", "which are trusted"],
    ["trust --revoke", "not any more"],
  ],
  options: {
    yes: { type: "boolean", short: "y", description: "Trust it without a question" },
    "dry-run": { type: "boolean", description: "Show what opening it does, and trust nothing" },
    list: { type: "boolean", description: "Show the configurations that are trusted" },
    revoke: { type: "boolean", description: "Forget that it is trusted" },
  },
  hasSources: false,
  complete: "file",
  arity: [0, 1],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  if (args.flag("list")) {
    const files = await trustedFiles(io)
    if (args.flag("json")) printJson(io, files)
    else for (const file of files) printText(io, oneLine(file))
    return 0
  }
  const file = await configFile(args, io)
  if (args.flag("revoke")) {
    const wasTrusted = await distrustFile(file, io)
    if (args.flag("json")) printJson(io, { file, trusted: false })
    else note(io, `${oneLine(file)} ${wasTrusted ? "is no longer trusted" : "was not trusted"}.`)
    return 0
  }
  if (await isOfAnother(file)) {
    throw new UsageError(`${oneLine(file)} belongs to another user: it cannot be trusted.`)
  }
  const consequences = await consequencesOf(file, io)
  const trusted = await showAndAsk(`Opening ${oneLine(file)}:`, consequences, args, io)
  if (trusted) await trustFile(file, io)
  if (args.flag("json")) printJson(io, { file, trusted, consequences })
  if (trusted) note(io, `${oneLine(file)} is trusted as it is now.`)
  else if (!args.flag("dry-run")) {
    throw new UsageError(`${oneLine(file)} is not trusted. To agree without a terminal, add --yes.`)
  }
  return 0
}

async function configFile({ positionals }: CommandArgs, io: CommandIO): Promise<string> {
  const [path] = positionals
  const file = path === undefined ? await findConfig(io.cwd) : resolve(io.cwd, path)
  if (file !== undefined) return file
  throw new UsageError(`There is no configuration in ${io.cwd} or above it.`)
}
