import type { ApprovalDecision } from "../../core/approvals.ts"
import type { DryRun } from "../../core/dry-run.ts"
import { encodeValue } from "../../core/envelope-codec.ts"
import { encodeSoon } from "../../core/unread-file.ts"
import { selectData, selectionOf } from "../../core/selection.ts"
import { commandText } from "../command-text.ts"
import { printInputIssues } from "../input/print-issues.ts"
import { gatherInput, INPUT_HELP, inputOptions } from "../input/gather.ts"
import type { CommandArgs, CommandDefinition, CommandIO } from "../model.ts"
import { UsageError } from "../model.ts"
import { escapeForTerminal, jsonText, note, print, printJson, styled } from "../output.ts"
import { Interrupted } from "../prompt/terminal.ts"
import { printEnvelope } from "../result/print.ts"
import { resultOptions } from "../result/show.ts"
import { Running } from "../result/running.ts"
import { outputOption, yesOption } from "../shared-options.ts"

export const command: CommandDefinition = {
  usage: "<operation> [key=value…]",
  details: INPUT_HELP,
  examples: [
    ["call task.create title='Buy milk' labels[]=home", "Give inputs by their names"],
    ["call task.create --input task.json done:=true", "Start from a file"],
    ["call github.issues.create owner=me title=x --dry-run", "Show the request, and send nothing"],
    ["call --mcp 'npx -y @example/search' search query=tea", "Call a tool without a configuration"],
    ["call task.delete id=1 --yes", "Approve a call that a rule asks about"],
    ["call maps.render city=Bonn --output map.png", "Write an image to a file"],
  ],
  options: {
    ...inputOptions,
    ...resultOptions,
    select: {
      type: "string",
      multiple: true,
      value: "paths",
      description: "Show only these fields of the result: number,assignees.login",
    },
    output: outputOption("Write the result to a file, also images and other bytes; - for stdout"),
    yes: yesOption,
    "dry-run": {
      type: "boolean",
      description: "Check the input and show the request that would be sent, credentials masked",
    },
  },
  hasSources: true,
  complete: "operation",
  arity: [1, Number.POSITIVE_INFINITY],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const { openTarget } = await import("../target/index.ts")
  await using target = await openTarget(args, io)
  const spec = await target.find(args.positionals[0] as string)
  const id = `${spec.namespace}.${spec.name}`
  if (spec.type === "subscription") {
    throw new UsageError(
      `"${id}" gives a stream. Watch it: ${commandText("watch", io, args)} ${id}`,
    )
  }
  using running = new Running(spec, args, io)
  try {
    const paths = args.texts("select")
    const wanted = paths.length === 0 ? undefined : paths.flatMap((text) => text.split(","))
    const selection = selectionOf(id, spec.outputSchema, wanted)
    const input = await gatherInput(spec, args, io)
    if (args.flag("dry-run")) {
      const envelope = await target.execute(id, input, { ...running.options, dryRun: true })
      await showDryRun(id, input, envelope.data as DryRun, args, io)
      return 0
    }
    const envelope = selectData(await target.execute(id, input, running.options), selection)
    await running.answered()
    return running.isInterrupted ? 130 : await printEnvelope(envelope, args, io)
  } catch (error) {
    if (error instanceof Interrupted || running.isInterrupted) return 130
    if (!args.flag("json") && printInputIssues(error, id, io, args)) return 2
    throw error
  }
}

/** Prints what a call would do; without a request, its input. */
async function showDryRun(
  id: string,
  input: unknown,
  { decision, rule, reason, request }: DryRun,
  args: CommandArgs,
  io: CommandIO,
): Promise<void> {
  const encoded = request === undefined && (await encodeSoon(() => encodeValue(input).value))
  if (args.flag("json")) {
    const sent = request === undefined ? { input: encoded ?? null } : { request }
    printJson(io, { id, decision, rule, reason, ...sent })
    return
  }
  const { bold, dim } = styled(io)
  if (request === undefined) {
    print(io, bold(escapeForTerminal(id)))
    print(io, jsonText(encoded, 2))
  } else {
    print(io, bold(escapeForTerminal(`${request.method} ${request.url}`)))
    for (const [name, value] of Object.entries(request.headers)) {
      print(io, `${dim(escapeForTerminal(`${name}:`))} ${escapeForTerminal(value)}`)
    }
    if (request.body !== undefined) print(io, `\n${escapeForTerminal(request.body)}`)
  }
  if (decision !== "allow") note(io, decisionText({ decide: decision, rule, reason }))
  note(io, `Nothing was ${request === undefined ? "called" : "sent"}; the input is valid.`)
}

/** What rules decided, as a sentence. */
export function decisionText({ decide, rule, reason }: ApprovalDecision): string {
  const what = {
    allow: "The call runs without being asked about",
    ask: "A person is asked first",
    deny: "The call is denied",
  }[decide]
  const why = reason === undefined ? "" : `: ${reason}`
  return escapeForTerminal(`${what} (${rule ?? "no rule applies"})${why}`)
}
