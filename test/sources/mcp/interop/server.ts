/** A small registry as an MCP server: over stdio when it is started as a program. */
import { Type } from "typebox"
import { createRegistry, defineOperation } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { toMCP } from "../../../../src/to-mcp.ts"
import type { MCPServer, MCPServerOptions } from "../../../../src/to-mcp.ts"

const add = defineOperation({
  namespace: "sum",
  name: "add",
  type: "query",
  description: "Adds two numbers",
  inputSchema: Type.Object({ a: Type.Number(), b: Type.Number() }),
  outputSchema: Type.Object({ total: Type.Number() }),
  accessControl: { requiredScopes: [] },
  handler: ({ a, b }) => ({ total: a + b }),
})

const words = defineOperation({
  namespace: "text",
  name: "words",
  type: "query",
  description: "Splits a text",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Array(Type.String()),
  accessControl: { requiredScopes: [] },
  handler: ({ text }) => text.split(" "),
})

const fail = defineOperation({
  namespace: "text",
  name: "fail",
  type: "mutation",
  description: "Fails",
  inputSchema: Type.Object({}),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: () => {
    throw new Error("No luck today")
  },
})

const union = defineOperation({
  namespace: "shape",
  name: "area",
  type: "query",
  description: "Gives the area of a circle or a square",
  inputSchema: Type.Union([
    Type.Object({ radius: Type.Number() }),
    Type.Object({ side: Type.Number() }),
  ]),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: (shape) => ("side" in shape ? shape.side ** 2 : Math.PI * shape.radius ** 2),
})

const count = defineOperation({
  namespace: "text",
  name: "count",
  type: "subscription",
  description: "Counts",
  inputSchema: Type.Object({}),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  async *handler() {
    for (let number = 1; ; number++) yield await Promise.resolve(number)
  },
})

const note = defineOperation({
  namespace: "note",
  name: "read",
  type: "query",
  description: "A note",
  inputSchema: Type.Object({ id: Type.String() }),
  outputSchema: Type.String(),
  mcp: { as: "resource", uri: "note://{id}" },
  accessControl: { requiredScopes: [] },
  handler: ({ id }) => `Note ${id}`,
})

const motto = defineOperation({
  namespace: "note",
  name: "motto",
  type: "query",
  description: "The motto",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  mcp: { as: "resource", uri: "motto://" },
  accessControl: { requiredScopes: [] },
  handler: () => "Onwards",
})

const letter = defineOperation({
  namespace: "write",
  name: "letter",
  type: "query",
  description: "Words for a letter",
  inputSchema: Type.Object({ to: Type.String() }),
  outputSchema: Type.String(),
  mcp: { as: "prompt" },
  accessControl: { requiredScopes: [] },
  handler: ({ to }) => `Write to ${to}.`,
})

/** The server, for whichever transport. */
export function createDemo(options: MCPServerOptions = {}): MCPServer {
  const registry = createRegistry([add, words, fail, union, count, note, motto, letter])
  return toMCP(registry, { name: "demo", logger: silentLogger, ...options })
}

if (process.argv[1] === import.meta.filename) {
  await createDemo({ schemaProfile: "portable" }).stdio()
}
