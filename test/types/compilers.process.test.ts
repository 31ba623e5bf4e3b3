import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  COMPILERS,
  createTypeApplication,
  programWith,
  type Compiler,
  type TypeApplication,
} from "../../tools/scripts/lib/type-cost.ts"

let application: TypeApplication

beforeAll(async () => {
  application = await createTypeApplication()
})

afterAll(() => application[Symbol.asyncDispose]())

/** How many instantiations a program costs. It must compile. */
async function costOf(
  compiler: Compiler,
  size: { operations: number; calls: number },
): Promise<number> {
  const { errors, instantiations } = await application.check(compiler, programWith(size))
  expect(errors).toEqual([])
  return instantiations
}

const PROGRAM = `
import { Type } from "typebox"
import { buildEnv, createClient, createRegistry, defineOperation } from "@alkdev/operations"
import { createMemoryTransports } from "@alkdev/operations/testing"
const rest = { description: "", accessControl: { requiredScopes: [] } } as const
export const create = defineOperation({
  ...rest,
  namespace: "task",
  name: "create",
  type: "mutation",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ id: Type.String() }),
  errorSchemas: [{ code: "FULL", description: "", schema: Type.Object({ limit: Type.Number() }) }],
  handler: async ({ title }, context) => {
    await context.env.audit.write({ title })
    return { id: title }
  },
})
export const watch = defineOperation({
  ...rest,
  namespace: "task",
  name: "watch",
  type: "subscription",
  inputSchema: { type: "object", properties: { since: { type: "number" } }, required: ["since"] },
  outputSchema: Type.Object({ at: Type.Number() }),
  async *handler({ since }) {
    yield { at: since }
  },
})
export const registry = createRegistry([create, watch])
export const client = createClient<typeof registry>(createMemoryTransports()[0])
export const seen: number[] = []
for await (const { data } of registry.subscribe("task.watch", { since: 1 })) seen.push(data.at)
for await (const { data } of client.task.watch({ since: 1 })) seen.push(data.at)
export const id: string = (await client.task.create({ title: "x" })).data.id
const get = defineOperation({
  ...rest,
  type: "query",
  inputSchema: Type.Object({ id: Type.String() }),
  outputSchema: Type.Object({ title: Type.String() }),
  handler: ({ id }) => ({ title: id }),
})
export const routed = createRegistry({ task: { create, watch }, shop: { orders: { get } } })
export const other = createClient<typeof routed>(createMemoryTransports()[0])
export const title: string = (await other.shop.orders.get({ id: "x" })).data.title
export const same: string = (await routed.execute("shop.orders.get", { id: "x" })).data.title
for await (const { data } of other.task.watch({ since: 1 })) seen.push(data.at)
`

/** Lines that are wrong, what the compiler marks, and what it says first. */
const MISTAKES: readonly [line: string, marked: string, message: string][] = [
  [
    `await registry.execute("task.craete", { title: "x" })`,
    `"task.craete"`,
    `Argument of type '"task.craete"' is not assignable to parameter of type '"task.craete" & `,
  ],
  [`await client.call("task.craete")`, `"task.craete"`, `Argument of type '"task.craete"' is not`],
  [`await buildEnv({ registry: routed }).task.craete()`, "craete", `Property 'craete' does not`],
  [
    `defineOperation({ type: "query", description: "", inputSchema: Type.Object({ a: Type.String() }), outputSchema: Type.Unknown(), handler: ({ a }) => a })`,
    "defineOperation(",
    `The 'this' context of type 'void' is not assignable to method's 'this' of type 'Incomplete<"accessControl is missing: say who may call it`,
  ],
  [
    `defineOperation({ ...rest, type: "query", inputSchema: Type.Object({ a: Type.String() }), outputSchema: Type.Object({ n: Type.Number() }), handler: async ({ a }) => ({ n: a }) })`,
    "({ n: a })",
    `Type 'Promise<{ n: string; }>' is not assignable to type 'HandlerResult<{ n: number; }>'.`,
  ],
]

const WRONG = `
await registry.execute("task.craete", { title: "x" })
await registry.execute("task.watch", { since: 1 })
await routed.execute("task.craete", { title: "x" })
createRegistry([get])
`

function startOf(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")}`)
}

describe.each(COMPILERS)("types of operations in %s", (compiler) => {
  test(
    "fit streams, clients, envs and emitted declarations, and name what is wrong with an id",
    { timeout: 240_000 },
    async () => {
      const { errors, declarations } = await application.check(compiler, PROGRAM + WRONG)
      // Nothing but what is wrong on purpose.
      expect(errors).toEqual([
        expect.stringContaining("task.craete is not registered: did you mean task.create?"),
        expect.stringContaining("task.watch is a subscription: use subscribe()"),
        expect.stringContaining("task.craete is not registered: did you mean task.create?"),
        expect.stringContaining("Operations in a list need namespace and name."),
      ])
      expect(declarations).toContain(`Operation<"task", "create", "mutation"`)
      expect(declarations.length).toBeLessThan(7000)
    },
  )

  test("say what is wrong first, at its place", { timeout: 240_000 }, async () => {
    const text = PROGRAM + MISTAKES.map(([line]) => line).join("\n")
    const { errors } = await application.check(compiler, text)
    const found = errors.map((error) => {
      const { 1: line, 2: column, 3: message } = /\((\d+),(\d+)\): error TS\d+: (.*)/.exec(error)!
      return [text.split("\n")[Number(line) - 1]!.slice(Number(column) - 1), message]
    })
    expect(found).toEqual(
      MISTAKES.map(([, marked, message]) => [
        expect.stringMatching(startOf(marked)),
        expect.stringMatching(startOf(message)),
      ]),
    )
  })

  test("cost little for the first one", { timeout: 240_000 }, async () => {
    expect(await costOf(compiler, { operations: 1, calls: 1 })).toBeLessThan(10_000)
  })

  test(
    "cost little for fifty, with twenty-five right and as many wrong calls",
    { timeout: 240_000 },
    async () => {
      expect(await costOf(compiler, { operations: 50, calls: 25 })).toBeLessThan(300_000)
    },
  )
})

test(
  "a thousand operations cost no more than ten times a hundred",
  {
    timeout: 240_000,
  },
  async () => {
    const hundred = await costOf("typescript", { operations: 100, calls: 50 })
    const thousand = await costOf("typescript", { operations: 1000, calls: 50 })
    expect(thousand).toBeLessThan(10 * hundred)
  },
)

test(
  "calls cost the same in a registry of a hundred operations and of five hundred",
  { timeout: 240_000 },
  async () => {
    const hundred = await costOf("typescript", { operations: 100, calls: 100 })
    const fiveHundred = await costOf("typescript", { operations: 500, calls: 500 })
    expect(fiveHundred).toBeLessThan(5.5 * hundred)
  },
)
