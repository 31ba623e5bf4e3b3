import { Type } from "typebox"
import { createRegistry, defineOperation } from "../../../src/index.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"

const open = { requiredScopes: [] }

/** Operations of a hub that tests talk to. */
export function hubRegistry(extra = 0): AnyRegistry {
  const many = Array.from({ length: extra }, (_, at) =>
    defineOperation({
      namespace: "many",
      name: `n${String(at).padStart(4, "0")}`,
      type: "query",
      version: "1.0.0",
      description: `Number ${at}`,
      inputSchema: Type.Object({}),
      outputSchema: Type.Number(),
      accessControl: open,
      handler: () => at,
    }),
  )
  return createRegistry([create, fail, whoami, ask, much, bytes, ticks, endless, hostile, ...many])
}

const create = defineOperation({
  namespace: "task",
  name: "create",
  version: "1.2.0",
  type: "mutation",
  title: "Create a task",
  description: "Writes a task down.",
  inputSchema: Type.Object({
    title: Type.String({ description: "What is to be done" }),
    labels: Type.Optional(Type.Array(Type.String())),
    priority: Type.Optional(Type.Union([Type.Literal("low"), Type.Literal("high")])),
  }),
  outputSchema: Type.Object({ id: Type.Integer(), title: Type.String() }),
  errorSchemas: [{ code: "TASK_EXISTS", description: "There is one", schema: Type.Object({}) }],
  accessControl: open,
  handler: ({ title }) => ({ id: 1, title }),
})

const fail = defineOperation({
  namespace: "task",
  name: "fail",
  version: "1.0.0",
  type: "query",
  description: "Fails.",
  inputSchema: Type.Object({}),
  outputSchema: Type.Unknown(),
  accessControl: open,
  handler: () => {
    throw new Error("It went wrong.")
  },
})

const whoami = defineOperation({
  namespace: "user",
  name: "whoami",
  version: "1.0.0",
  type: "query",
  description: "Who is calling.",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: open,
  handler: (_, { identity }) => identity?.id ?? "nobody",
})

const ask = defineOperation({
  namespace: "user",
  name: "ask",
  version: "1.0.0",
  type: "mutation",
  description: "Asks for a name.",
  inputSchema: Type.Object({}),
  outputSchema: Type.Unknown(),
  accessControl: open,
  handler: async (_, { requestInput, progress, identity }) => {
    progress({ progress: 1, total: 2 })
    const answer = await requestInput({ message: "Who are you?", schema: { type: "object" } })
    return { answer, id: identity?.id ?? "nobody" }
  },
})

const much = defineOperation({
  namespace: "file",
  name: "much",
  version: "1.0.0",
  type: "query",
  description: "<p>So <b>many</b> characters.</p>",
  inputSchema: Type.Object({ length: Type.Integer() }),
  outputSchema: Type.String(),
  accessControl: open,
  handler: ({ length }) => "x".repeat(length),
})

const bytes = defineOperation({
  namespace: "file",
  name: "bytes",
  version: "1.0.0",
  type: "query",
  description: "Four bytes.",
  inputSchema: Type.Object({}),
  outputSchema: Type.Unknown(),
  accessControl: open,
  handler: () => new Uint8Array([0, 255, 10, 13]),
})

const ticks = defineOperation({
  namespace: "clock",
  name: "ticks",
  version: "1.0.0",
  type: "subscription",
  description: "Counts.",
  inputSchema: Type.Object({ to: Type.Integer(), failAt: Type.Optional(Type.Integer()) }),
  outputSchema: Type.Integer(),
  accessControl: open,
  async *handler({ to, failAt }) {
    for (let at = 1; at <= to; at++) {
      if (at === failAt) throw new Error("The clock stopped.")
      yield at
    }
  },
})

const endless = defineOperation({
  namespace: "clock",
  name: "endless",
  version: "1.0.0",
  type: "subscription",
  description: "Gives one item, then waits.",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: open,
  async *handler(_, { signal }) {
    yield "first"
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
  },
})

const hostile = defineOperation({
  namespace: "x",
  name: "hostile",
  version: "1.0.0",
  type: "query",
  description: "Looks\u001B[2J harmless\nand is\u202E not.",
  inputSchema: Type.Object({ "\u001B[2Jkey": Type.String({ description: "\u001B[31mred" }) }),
  outputSchema: Type.Unknown(),
  accessControl: open,
  deprecated: true,
  handler: () => "\u001B[2J",
})
