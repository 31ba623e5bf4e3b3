import type { CommandDefinition } from "../model.ts"
import { listServed, printServed } from "../target/served.ts"

export const command: CommandDefinition = {
  usage: "[<namespace>]",
  details:
    "Resources of MCP servers, and operations that are served as resources. In a template such as note://{id},\n" +
    "fill in the braces and read it. Between programs the columns are parted by tabs: address, media type, what it is.",
  examples: [
    ["resources", "What can be read"],
    ['resources --mcp "npx -y @example/files"', "The resources of an MCP server"],
  ],
  options: {},
  hasSources: true,
  arity: [0, 1],
  async run(args, io) {
    const listed = await listServed("resource", args, io)
    printServed(listed, "resource", args, io, ({ mcp }) => [mcp.uri ?? "", mcp.mimeType ?? ""])
    return listed.code
  },
}
