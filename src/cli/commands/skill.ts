import { relative, resolve } from "node:path"
import { eachOf } from "../../internal/each-of.ts"
import { readOwnFile, writeWhole } from "../own-file.ts"
import { UsageError, type CommandArgs, type CommandDefinition, type CommandIO } from "../model.ts"
import { counted, escapeForTerminal, note, printJson } from "../output.ts"
import { outputOption } from "../shared-options.ts"
import { isSkillText, skillText, type TaughtOperation } from "../skill-text.ts"
import { openTarget, printFailures } from "../target/index.ts"

/** Operations whose inputs are described; the agent finds the others by search. */
const MAX_DESCRIBED = 40
/** Maximum concurrent requests to a hub. */
const AT_ONCE = 8

export const command: CommandDefinition = {
  usage: "<namespace> [-o <folder>]",
  details:
    "Writes a SKILL.md, which teaches an agent to use a source with this command. Without -o it goes to standard output;\n" +
    "with -o .claude/skills to .claude/skills/<namespace>/SKILL.md.",
  examples: [
    ["skill github -o .claude/skills", "Write a skill, or bring it up to date"],
    ["skill github --hub https://hub.example", "A skill that calls a hub"],
  ],
  options: { output: { ...outputOption("The folder of skills"), complete: "directory" } },
  hasSources: true,
  arity: [1, 1],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const [namespace = ""] = args.positionals
  await using target = await openTarget(args, io)
  const { operations } = await target.list({ namespace })
  printFailures(io, target)
  if (operations.length === 0) {
    throw new UsageError(`There are no operations in "${namespace}". See: ${io.program} list`)
  }
  const taught: TaughtOperation[] = operations.map((listed) => ({ listed, spec: undefined }))
  await eachOf(taught.slice(0, MAX_DESCRIBED), AT_ONCE, async (one) => {
    one.spec = await target.find(one.listed.id)
  })
  const { name, text } = skillText(namespace, taught, args, io.program)
  const output = args.text("output")
  if (output === undefined) {
    if (args.flag("json")) printJson(io, { name, text })
    else io.stdout.write(text)
    return 0
  }
  const path = resolve(io.cwd, output, name, "SKILL.md")
  const file = escapeForTerminal(relative(io.cwd, path))
  const old = await readOwnFile(path, file, isSkillText)
  if (old !== text) await writeWhole(path, file, text)
  if (args.flag("json")) printJson(io, { name, file, operations: operations.length })
  else {
    const what = old === text ? "is up to date" : "was written"
    note(io, `${file} ${what}: ${counted(operations.length, "operation")}.`)
  }
  return 0
}
