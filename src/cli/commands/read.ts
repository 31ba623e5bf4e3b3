import { outputOption, yesOption } from "../shared-options.ts"
import type { CommandDefinition } from "../model.ts"
import { resultOptions } from "../result/show.ts"
import { Running } from "../result/running.ts"
import { asContents, printEnvelope } from "../result/print.ts"
import { openTarget } from "../target/index.ts"
import { findResource } from "../target/served.ts"

export const command: CommandDefinition = {
  usage: "<address>",
  details: "Text is printed. Bytes go to a pipe or a file, never to a terminal.",
  examples: [
    ["read note://1", "Read a resource"],
    ["read file:///logo.png --output logo.png", "Write one to a file"],
  ],
  options: {
    ...resultOptions,
    output: outputOption("Write the content to a file; - for stdout"),
    yes: yesOption,
    "no-input": { type: "boolean", description: "Never ask a question" },
  },
  hasSources: true,
  arity: [1, 1],
  async run(args, io) {
    const [uri = ""] = args.positionals
    await using target = await openTarget(args, io)
    const { spec, input } = await findResource(target, uri)
    using running = new Running(spec, args, io)
    const envelope = await target.execute(`${spec.namespace}.${spec.name}`, input, running.options)
    await running.answered()
    return running.isInterrupted ? 130 : await printEnvelope(asContents(envelope, args), args, io)
  },
}
