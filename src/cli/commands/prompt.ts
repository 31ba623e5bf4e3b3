import { isRecord } from "../../internal/guards.ts"
import type { CommandDefinition } from "../model.ts"
import { gatherInput, inputOptions } from "../input/gather.ts"
import { print } from "../output.ts"
import { outputOption, yesOption } from "../shared-options.ts"
import { readInput } from "../input/index.ts"
import { asMessages, printEnvelope } from "../result/print.ts"
import { resultOptions } from "../result/show.ts"
import { Running } from "../result/running.ts"
import { openTarget } from "../target/index.ts"
import { findPrompt } from "../target/served.ts"

export const command: CommandDefinition = {
  usage: "<prompt> [argument=value…]",
  details:
    "Prints the text of a prompt, with its arguments filled in. On a terminal you are asked for what is missing,\n" +
    "with the values that its server offers.",
  examples: [
    ["prompt review language=python", "Fill in a prompt"],
    ["prompt review --complete language", "The values for an argument, a line each"],
  ],
  options: {
    ...inputOptions,
    ...resultOptions,
    complete: {
      type: "string",
      value: "argument",
      description: "Print the values that its server offers for an argument",
    },
    output: outputOption("Write the text to a file; - for stdout"),
    yes: yesOption,
  },
  hasSources: true,
  arity: [1, Number.POSITIVE_INFINITY],
  async run(args, io) {
    const [name = ""] = args.positionals
    await using target = await openTarget(args, io)
    const spec = await findPrompt(target, name)
    const offered = async (argument: string, given: unknown): Promise<readonly string[]> =>
      await target.complete(spec, argument, isRecord(given) ? given : {})
    const wanted = args.text("complete")
    if (wanted !== undefined) {
      const given = { arguments: args.positionals.slice(1), inputs: args.texts("input") }
      const { value } = await readInput({ ...given, schema: spec.inputSchema }, io)
      const values = await offered(wanted, value)
      if (values.length > 0) print(io, values.join("\n"))
      return 0
    }
    using running = new Running(spec, args, io)
    const input = await gatherInput(spec, args, io, offered)
    const envelope = await target.execute(`${spec.namespace}.${spec.name}`, input, running.options)
    await running.answered()
    return running.isInterrupted ? 130 : await printEnvelope(asMessages(envelope, args), args, io)
  },
}
