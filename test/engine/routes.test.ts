import { Type } from "typebox"
import { describe, expect, onTestFinished, test } from "vitest"
import {
  buildEnv,
  createClient,
  createRegistry,
  defineOperation,
  OperationRegistry,
  serveCalls,
} from "../../src/index.ts"
import { createQueryUtils } from "../../src/tanstack-query.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import { toHTTP } from "../../src/to-http.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { greet } from "../support/operations.ts"
import { connect, textOf } from "../serve/mcp/support/clients.ts"

const rest = {
  type: "query",
  description: "Returns a number",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
} as const

const one = defineOperation({ ...rest, handler: () => 1 })
const two = defineOperation({ ...rest, handler: () => 2 })
const nested = defineOperation({
  ...rest,
  handler: async (_input, { env }) => (await env["shop"].orders.get()).data as number,
})

const routes = {
  task: { create: one, list: two },
  shop: { orders: { get: two, "by.day": one }, nested },
}
const registry = createRegistry(routes, { logger: silentLogger })

function idsOf(operations: unknown): string[] {
  return createRegistry(operations as typeof routes)
    .list()
    .map(({ namespace, name }) => `${namespace} ${name}`)
}

function connected(): ReturnType<typeof createClient<typeof registry>> {
  const [near, far] = createMemoryTransports()
  const server = serveCalls(registry, { transport: far })
  const client = createClient<typeof registry>(near)
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  return client
}

describe("createRegistry with an object", () => {
  test("gives operations the names of their keys", () => {
    expect(idsOf(routes)).toEqual([
      "task create",
      "task list",
      "shop orders.get",
      "shop orders.by.day",
      "shop nested",
    ])
    expect(one).not.toHaveProperty("name")
  })

  test.each<[string, () => Promise<unknown>]>([
    ["execute", async () => (await registry.execute("shop.orders.get")).data],
    ["trusted", async () => (await registry.trusted.execute("shop.orders.get")).data],
    ["buildEnv", async () => (await buildEnv({ registry }).shop.orders.get()).data],
    ["context.env", async () => (await registry.execute("shop.nested")).data],
    ["client", async () => (await connected().shop.orders.get()).data],
    ["client.call", async () => (await connected().call("shop.orders.get")).data],
    ["a key with a dot", async () => (await connected().shop.orders["by.day"]()).data + 1],
    [
      "createQueryUtils",
      () => {
        const { queryFn } = createQueryUtils(connected()).shop.orders.get.queryOptions()
        return queryFn({ signal: new AbortController().signal })
      },
    ],
    [
      "HTTP",
      async () => {
        const api = toHTTP(registry, { logger: silentLogger, allowedHosts: ["example.org"] })
        onTestFinished(() => api.close())
        const response = await api.fetch(new Request("http://example.org/api/shop/orders.get"))
        return await response.json()
      },
    ],
    [
      "MCP",
      async () => {
        const server = toMCP(registry, {
          logger: silentLogger,
          authenticate: () => ({ id: "ada", scopes: [] }),
          expose: { mode: "all" },
        })
        onTestFinished(() => server.close())
        const { url } = await server.listen({ port: 0 })
        await using client = await connect(url, "modern")
        const { tools } = await client.listTools()
        const { name } = tools.find((tool) => /orders.get/.test(tool.name))!
        return Number(textOf(await client.callTool({ name, arguments: {} })))
      },
    ],
  ])("calls a nested operation through %s", async (_way, call) => {
    expect(await call()).toBe(2)
  })

  test("keys of nested objects appear in keys of queries", () => {
    const utils = createQueryUtils(connected())
    expect(utils.shop.key()).toEqual([["shop"]])
    expect(utils.shop.orders.key()).toEqual([["shop", "orders"]])
    expect(utils.shop.orders.get.key()).toEqual([["shop", "orders", "get"]])
    expect(utils.shop.orders["by.day"].key()).toEqual([["shop", "orders", "by", "day"]])
  })

  test("members of a client are the same each time, and functions", async () => {
    const client = connected()
    expect(client.shop.orders.get).toBe(client.shop.orders.get)
    const bound = client.task.create.bind(undefined)
    expect((await bound()).data).toBe(1)
    expect((await client.task.create.call(undefined)).data).toBe(1)
    expect(await (client.shop.orders as unknown)).toBe(client.shop.orders)
    expect(await (client.shop.orders.get as unknown)).toBe(client.shop.orders.get)
    await expect((client.shop.orders as unknown as () => Promise<unknown>)()).rejects.toThrow(
      `"shop.orders" is not registered`,
    )
  })

  test("names that functions have already are names like any other", async () => {
    const names = ["name", "length", "constructor", "toString", "arguments", "prototype"]
    const odd = createRegistry(
      { x: { y: Object.fromEntries(names.map((name) => [name, one])) } },
      { logger: silentLogger },
    )
    const [near, far] = createMemoryTransports()
    serveCalls(odd, { transport: far })
    await using client = createClient(near)
    for (const name of names) expect((await client["x"].y[name]()).data).toBe(1)
  })

  test("accepts names that an operation has, if they agree", () => {
    expect(idsOf({ demo: { greet } })).toEqual(["demo greet"])
    expect(() => idsOf({ demo: { hello: greet } })).toThrow(
      `the operation at "demo.hello" says name: "greet", its keys say "hello".`,
    )
    expect(() => idsOf({ other: { greet } })).toThrow(
      `the operation at "other.greet" says namespace: "demo", its keys say "other".`,
    )
  })

  test.each<[string, unknown, string[]]>([
    ["nothing", {}, []],
    ["an empty namespace", { task: {} }, []],
    ["a number", { v: { 1: one } }, ["v 1"]],
    ["__proto__", { ["__proto__"]: { ["__proto__"]: one } }, ["__proto__ __proto__"]],
    ["a prototype", { x: { __proto__: { inherited: one }, own: two } }, ["x own"]],
    ["then", { then: { then: one } }, ["then then"]],
    ["no prototype", Object.assign(Object.create(null), { x: { one } }), ["x one"]],
    ["a symbol", { x: { one, [Symbol.toStringTag]: "Module" } }, ["x one"]],
    ["one operation twice", { x: { a: one, b: one } }, ["x a", "x b"]],
    ["a plain object with a handler", { x: { a: { ...one } } }, ["x a"]],
  ])("keys: %s", (_name, operations, expected) => {
    expect(idsOf(operations)).toEqual(expected)
  })

  const circular: Record<string, unknown> = {}
  circular["a"] = circular
  const throwing = {
    get task(): never {
      throw new Error("not today")
    },
  }

  test.each<[string, unknown, string]>([
    ["an operation without a namespace", { one }, `the operation "one" has no namespace.`],
    ["an operation", one, "must be an object of namespaces, { task: { create } }, or a list"],
    ["null", null, "got null"],
    ["a function", () => 1, "must be an object of namespaces"],
    ["a promise", Promise.resolve({ task: { one } }), "got a promise: await it."],
    ["a map", new Map([["task", { one }]]), "got an instance of Map."],
    ["a registry", createRegistry({}), "got an instance of "],
    ["a promise in a namespace", { task: Promise.resolve({ one }) }, "got a promise: await it."],
    ["a string in a namespace", { task: { create: "x" } }, `"task.create" must be an operation`],
    ["undefined", { task: { create: undefined } }, `"task.create" must be an operation`],
    ["a list in a namespace", { task: [one] }, `"task" must be an operation or an object`],
    ["a handler alone", { task: { create: () => 1 } }, `"task.create" must be an operation`],
    ["one id twice", { a: { b: { c: one }, "b.c": one } }, `two keys lead to "a.b.c"`],
    ["a dot in a namespace", { "a.b": { c: one } }, "its key must have no dot"],
    ["a dot in a nested object", { a: { "b.c": { d: one } } }, "its key must have no dot"],
    ["an object in itself", circular, `the object at "a" contains itself`],
    ["a getter that throws", throwing, "cannot be read: not today"],
    ["an empty key", { "": { a: one } }, "namespace"],
    ["a space", { a: { "b c": one } }, "name must be letters"],
    ["a bad operation", { a: { b: { ...one, version: "?" } } }, `"a.b"`],
  ])("refuses %s, and names its place", (_name, operations, message) => {
    expect(() => idsOf(operations)).toThrow(message)
  })
})

test("an operation without names cannot be registered elsewhere, and the error says how", () => {
  const cure = "let keys give them, createRegistry({ task: { create } })"
  // @ts-expect-error it has no namespace
  expect(() => createRegistry([one])).toThrow(cure)
  // @ts-expect-error it has no namespace
  expect(() => new OperationRegistry().register(one)).toThrow(cure)
  // @ts-expect-error it has no namespace
  expect(() => new OperationRegistry().registerAll([one])).toThrow(cure)
  // @ts-expect-error it has no namespace
  expect(() => new OperationRegistry().registerSpec(one)).toThrow(cure)
})
