import type { CommandDefinition } from "../model.ts"
import { listServed, nameOfPrompt, printServed } from "../target/served.ts"

export const command: CommandDefinition = {
  usage: "[<namespace>]",
  details: "Between programs the columns are parted by tabs: name, operation, what it is for.",
  examples: [
    ["prompts", "Every prompt"],
    ['prompts --mcp "npx -y @example/review"', "The prompts of an MCP server"],
  ],
  options: {},
  hasSources: true,
  arity: [0, 1],
  async run(args, io) {
    const listed = await listServed("prompt", args, io)
    printServed(listed, "prompt", args, io, (one) => [nameOfPrompt(one), one.id])
    return listed.code
  },
}
