import { relative, resolve } from "node:path"
import type { OperationSpec } from "../../core/types.ts"
import { eachOf } from "../../internal/each-of.ts"
import { generateTypes } from "../../typegen/generate.ts"
import { UsageError } from "../model.ts"
import type { CommandDefinition, CommandArgs, CommandIO, Target } from "../model.ts"
import { counted, printError, note, printJson, escapeForTerminal } from "../output.ts"
import { outputOption } from "../shared-options.ts"
import { openTarget, printFailures } from "../target/index.ts"
import { readOwnFile, writeWhole } from "../own-file.ts"

export const command: CommandDefinition = {
  usage: "[-o <file>]",
  details: [
    "With the file in your project, registry.execute and clients know every operation, imported ones",
    "included. Without -o the types go to standard output.",
  ].join("\n"),
  examples: [
    ["types -o operations.d.ts", "Write the file, or bring it up to date"],
    ["types -o operations.d.ts --check", "For CI: exit 1 when the file is out of date"],
    ["types --openapi ./petstore.yaml", "Types of one document, without a configuration"],
  ],
  options: {
    output: outputOption("Where the types go"),
    check: { type: "boolean", description: "Write nothing; exit 1 when the file is out of date" },
    bare: { type: "boolean", description: "Leave descriptions out" },
    partial: { type: "boolean", description: "Continue when a source fails" },
  },
  hasSources: true,
  arity: [0, 0],
  run,
}

/** Header of files that this command wrote. */
const HEADER = /^(?:\uFEFF)?\/\* eslint-disable \*\/\r?\n\/\/ Written by `operations types`/

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const output = args.text("output")
  if (output === "") throw new UsageError("-o takes a file.")
  const isCheck = args.flag("check")
  if (isCheck && output === undefined) {
    throw new UsageError("--check compares with a file: give it with -o.")
  }
  const made = await generate(args, io)
  if (made === undefined) return 1
  if (output === undefined) {
    if (args.flag("json")) printJson(io, made)
    else io.stdout.write(made.text)
    return 0
  }
  const path = resolve(io.cwd, output)
  const file = escapeForTerminal(relative(io.cwd, path) || output)
  const old = await readOwnFile(path, file, (text) => HEADER.test(text))
  const result = {
    file,
    operations: made.operations,
    isUpToDate: old === made.text,
    added: idsBeyond(made.text, old ?? ""),
    removed: idsBeyond(old ?? "", made.text),
  }
  if (!isCheck && !result.isUpToDate) await writeWhole(path, file, made.text)
  if (args.flag("json")) printJson(io, isCheck ? result : { ...result, isUpToDate: true })
  else printOutcome(result, old !== undefined, isCheck, io)
  return isCheck && !result.isUpToDate ? 1 : 0
}

/** Generates the types; `undefined` when a source failed, because its types would be missing. */
async function generate(
  args: CommandArgs,
  io: CommandIO,
): Promise<{ text: string; operations: number } | undefined> {
  await using target = await openTarget(args, io)
  const specs = await specsOf(target, io.signal)
  printFailures(io, target)
  if (target.failures.length > 0 && !args.flag("partial")) {
    printError(
      io,
      "Its types would be missing, so nothing was written. To go on without: --partial",
    )
    return undefined
  }
  if (specs.length === 0) note(io, "There are no operations; the types are empty.")
  const text = generateTypes(specs, { comments: !args.flag("bare") })
  return { text, operations: specs.length }
}

interface Result {
  readonly file: string
  readonly operations: number
  readonly isUpToDate: boolean
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

function printOutcome(result: Result, wasThere: boolean, isCheck: boolean, io: CommandIO): void {
  const { file, isUpToDate } = result
  const count = counted(result.operations, "operation")
  if (isUpToDate) {
    note(io, `${file} is up to date: ${count}.`)
    return
  }
  const changes = changesOf(result)
  if (!isCheck) {
    note(io, `Wrote ${file}: ${count}${wasThere ? ` (${changes})` : ""}.`)
    return
  }
  printError(io, wasThere ? `${file} is out of date: ${changes}.` : `${file} does not exist.`)
  printError(io, "To write it, run the same command without --check.")
}

function changesOf({ added, removed }: Result): string {
  const parts = [
    ...(added.length > 0 ? [`${added.length} new`] : []),
    ...(removed.length > 0 ? [`${removed.length} gone`] : []),
  ]
  return parts.length === 0 ? "types changed" : parts.join(", ")
}

/** Maximum concurrent requests to a hub. */
const AT_ONCE = 8

/** The specs of all operations of a target, including internal ones if it has them. */
async function specsOf(target: Target, signal: AbortSignal): Promise<readonly OperationSpec[]> {
  if (target.specs !== undefined) return await target.specs()
  const { operations } = await target.list({})
  const specs: OperationSpec[] = []
  await eachOf(operations, AT_ONCE, async ({ id }) => {
    signal.throwIfAborted()
    specs.push(await target.find(id))
  })
  return specs
}

/** Ids that one text declares and another does not. */
function idsBeyond(text: string, other: string): string[] {
  const others = new Set(idsIn(other))
  return idsIn(text).filter((id) => !others.has(id))
}

function idsIn(text: string): string[] {
  const matches = text.matchAll(/^ {2}("(?:[^"\\\n]|\\.)*"): Routes\[/gm)
  return Array.from(matches, ([, id = '""']) => JSON.parse(id) as string)
}
