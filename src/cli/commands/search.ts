import { commandText } from "../command-text.ts"
import { UsageError, type CommandDefinition } from "../model.ts"
import { note, printJson } from "../output.ts"
import { openTarget, printFailures } from "../target/index.ts"
import { filterOptions, readFilter, showOperations } from "./list.ts"

const LIMIT = 20

export const command: CommandDefinition = {
  usage: "<words…>",
  details: `The best come first; at most ${LIMIT}, unless --limit says otherwise.`,
  examples: [
    ["search create an issue", "The likeliest operations"],
    ["search label --namespace github --json", "For a program"],
  ],
  options: filterOptions,
  hasSources: true,
  arity: [1, 100],
  async run(args, io) {
    const filter = readFilter(args)
    const query = args.positionals.join(" ").trim()
    if (query === "") throw new UsageError(`"search" needs words to look for.`)
    await using target = await openTarget(args, io)
    const { limit = LIMIT } = filter
    const { operations, total } = await target.list({ ...filter, query, limit })
    printFailures(io, target)
    if (args.flag("json")) printJson(io, { operations, total })
    else if (total === 0)
      note(io, `Nothing found. See what there is: ${commandText("list", io, args)}`)
    else showOperations(io, operations, total)
    return total === 0 && target.failures.length > 0 ? 1 : 0
  },
}
