import type { ResponseEnvelope } from "../../core/envelope.ts"
import { commandText } from "../command-text.ts"
import { printInputIssues } from "../input/print-issues.ts"
import { gatherInput, INPUT_HELP, inputOptions } from "../input/gather.ts"
import { UsageError, type CommandDefinition, type CommandArgs, type CommandIO } from "../model.ts"
import { Interrupted } from "../prompt/terminal.ts"
import { printItem } from "../result/items.ts"
import { Running } from "../result/running.ts"
import { formOf, resultOptions } from "../result/show.ts"

export const command: CommandDefinition = {
  usage: "<operation> [key=value…]",
  details: `Prints one item per line; with --json one envelope per line. Ctrl-C stops the stream, and is not a failure.\n\n${INPUT_HELP}`,
  examples: [
    ["watch clock.ticks every=1000", "Print items until Ctrl-C"],
    ["watch clock.ticks --limit 3 --data", "Three items, the data of each as JSON on a line"],
  ],
  options: {
    ...inputOptions,
    ...resultOptions,
    limit: {
      type: "string",
      short: "n",
      value: "count",
      description: "Stop after this number of items",
    },
  },
  hasSources: true,
  complete: "operation",
  arity: [1, Number.POSITIVE_INFINITY],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const limit = args.count("limit") ?? Number.POSITIVE_INFINITY
  const { openTarget } = await import("../target/index.ts")
  await using target = await openTarget(args, io)
  const spec = await target.find(args.positionals[0] as string)
  const id = `${spec.namespace}.${spec.name}`
  if (spec.type !== "subscription") {
    throw new UsageError(`"${id}" answers once. Call it: ${commandText("call", io, args)} ${id}`)
  }
  using running = new Running(spec, args, io)
  try {
    const input = await gatherInput(spec, args, io)
    if (limit > 0)
      await follow(target.subscribe(id, input, running.options), limit, running, args, io)
    if (running.isInterrupted) return 130
    // Signals other than Ctrl-C determine the exit code.
    if (io.signal.aborted && io.signal.reason !== "SIGINT") throw new Error("It was stopped.")
    return 0
  } catch (error) {
    if (error instanceof Interrupted || running.isInterrupted) return 130
    // Ctrl-C is the normal end of watching: the producer was stopped, and nothing failed.
    if (io.signal.aborted && io.signal.reason === "SIGINT") return 0
    if (!args.flag("json") && printInputIssues(error, id, io, args)) return 2
    throw error
  }
}

async function follow(
  items: AsyncIterable<ResponseEnvelope>,
  limit: number,
  running: Running,
  args: CommandArgs,
  io: CommandIO,
): Promise<void> {
  const form = formOf(args)
  let count = 0
  // Leaving the loop stops the producer.
  for await (const item of items) {
    await running.answered()
    if (running.options.signal.aborted || io.signal.aborted) return
    await printItem(item, form, io)
    if (++count >= limit) return
  }
}
