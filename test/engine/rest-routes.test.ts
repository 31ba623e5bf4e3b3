import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { createRegistry, type AnyOperation, type RestRoute } from "../../src/index.ts"
import { FileStream } from "../../src/type.ts"
import { quietRegistry } from "../support/operations.ts"

function user(name: string, route: unknown, more: Partial<AnyOperation> = {}): AnyOperation {
  return {
    namespace: "user",
    name,
    version: "1.0.0",
    type: "mutation",
    description: "",
    inputSchema: Type.Object({ id: Type.Integer(), name: Type.Optional(Type.String()) }),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    route: route as RestRoute,
    handler: (): null => null,
    ...more,
  }
}

const GET = { method: "GET", path: "/users/{id}" } as const
const PUT = { method: "PUT", path: "/users/{id}" } as const
const query = { type: "query" } as const
const stream = { type: "subscription", handler: async function* () {} } as const

describe("a route in a definition", () => {
  test.each<[string, unknown, Partial<AnyOperation>]>([
    ["of a query", GET, query],
    ["of a mutation", { ...PUT, status: 202 }, {}],
    ["of a subscription", GET, stream],
    ["without parameters", { method: "POST", path: "/users", status: 201 }, {}],
    [
      "with 204 and no result",
      { method: "DELETE", path: "/users/{id}", status: 204 },
      { outputSchema: Type.Void() },
    ],
    ["of a Zod schema", GET, { ...query, inputSchema: z.object({ id: z.coerce.number() }) }],
    ["of any input", GET, { ...query, inputSchema: {} }],
    [
      "of a parameter with several types",
      GET,
      { ...query, inputSchema: Type.Object({ id: Type.Union([Type.String(), Type.Number()]) }) },
    ],
    [
      "of a parameter in a part of the schema",
      GET,
      {
        ...query,
        inputSchema: Type.Intersect([Type.Object({ id: Type.String() }), Type.Object({})]),
      },
    ],
    ["with odd characters", { method: "GET", path: "/~a.b_c-d/{id}" }, query],
  ])("is kept in the spec: %s", (_, route, more) => {
    const spec = quietRegistry([user("x", route, more)]).getSpec("user.x")
    expect(spec?.route).toEqual(route)
    expect(Object.isFrozen(spec?.route)).toBe(true)
  })

  test.each<[unknown, string, Partial<AnyOperation>?]>([
    [GET, "route.method must not be GET for a mutation"],
    [GET, "must not be GET for a subscription", { ...stream, annotations: { readOnly: false } }],
    [PUT, "route.method must be GET or POST for a subscription", stream],
    [{ ...GET, status: 201 }, "route.status must be omitted", stream],
    [{ ...PUT, status: 204 }, "route.status must not be 204 if there is a result"],
    [{ ...PUT, status: 206 }, "route.status must not be 206"],
    [{ ...PUT, status: 302 }, "route.status must be"],
    [{ method: "get", path: "/users/{id}" }, "route.method"],
    [{ method: "HEAD", path: "/users/{id}" }, "route.method"],
    [{ path: "/users" }, "route.method is required"],
    [{ ...PUT, pth: "/x" }, "route"],
    ["/users", "route must be"],
    [null, "route must be"],
    [{ ...PUT, path: "users/{id}" }, "route.path must be such as"],
    [{ ...PUT, path: "/" }, "route.path must be such as"],
    [{ ...PUT, path: "" }, "route.path must be such as"],
    [{ ...PUT, path: "/users/" }, "route.path must be such as"],
    [{ ...PUT, path: "//users" }, "route.path must be such as"],
    [{ ...PUT, path: "/users/../{id}" }, "route.path must be such as"],
    [{ ...PUT, path: "/users/{id}.json" }, "route.path must be such as"],
    [{ ...PUT, path: "/users/{}" }, "route.path must be such as"],
    [{ ...PUT, path: "/users/{id" }, "route.path must be such as"],
    [{ ...PUT, path: "/users/:id" }, "route.path must be such as"],
    [{ ...PUT, path: "/users/{id}?x=1" }, "route.path must be such as"],
    [{ ...PUT, path: "/über" }, "route.path must be such as"],
    [{ ...PUT, path: `/${"a".repeat(600)}` }, "route.path"],
    [{ ...PUT, path: "/users/{id}/{id}" }, "route.path has the parameter {id} twice"],
    [{ ...PUT, path: "/users/{uid}" }, "has the parameter {uid}, which inputSchema does not have"],
    [{ ...PUT, path: "/users/{__proto__}" }, "which inputSchema does not have"],
    [
      PUT,
      "must be a string, a number or a boolean",
      { inputSchema: Type.Object({ id: Type.Array(Type.String()) }) },
    ],
    [
      PUT,
      "must be a string, a number or a boolean",
      { inputSchema: Type.Object({ id: FileStream() }) },
    ],
    [PUT, "which inputSchema does not have", { inputSchema: Type.String() }],
  ])("is refused: %j: %s", (route, message, more = {}) => {
    expect(() => quietRegistry([user("x", route, more)])).toThrow(
      expect.objectContaining({
        code: "VALIDATION_ERROR",
        message: expect.stringContaining(message) as string,
      }),
    )
  })
})

describe("two routes", () => {
  const other = { method: "PUT", path: "/users/{name}" } as const

  test("for the same requests are refused, with both operations and the cure", () => {
    const registry = quietRegistry([user("a", PUT)])
    const text = `Operation "user.b" cannot be registered: its route PUT /users/{name} is the same as PUT /users/{id} of "user.a". Change the method or the path of one of them.`
    const refused = expect.objectContaining({ code: "CONFLICT", message: text }) as Error
    const inputSchema = Type.Object({ name: Type.String() })
    expect(() => registry.registerAll([user("b", other, { inputSchema })])).toThrow(refused)
    expect(() => registry.registerSpec({ ...user("b", other, { inputSchema }) })).toThrow(refused)
    expect(() => createRegistry([user("a", PUT), user("b", other)])).toThrow(refused)
    expect(() => createRegistry({ user: { a: user("a", PUT), b: user("b", other) } })).toThrow(
      refused,
    )
    expect(registry.has("user.b")).toBe(false)
  })

  test("add nothing if one of a list is refused", () => {
    const registry = quietRegistry([user("a", PUT)])
    expect(() => registry.registerAll([user("c", { ...PUT, path: "/c" }), user("b", PUT)])).toThrow(
      `of "user.a"`,
    )
    expect(registry.list()).toHaveLength(1)
  })

  test("with other methods of one path are fine if its parameters have the same names", () => {
    const registry = quietRegistry([user("a", PUT), user("b", GET, query)])
    expect(() => registry.registerAll([user("c", { ...other, method: "PATCH" })])).toThrow(
      "Name the parameters alike",
    )
    registry.registerAll([user("d", { method: "GET", path: "/users/me" }, query)])
    registry.registerAll([user("e", { method: "GET", path: "/users/{id}/{name}" }, query)])
  })

  test("follow operations that are removed and replaced", () => {
    const registry = quietRegistry([user("a", PUT)])
    registry.registerAll([user("a", PUT), user("a", PUT)], { replace: true })
    registry.unregister("user.a")
    registry.registerAll([user("b", PUT)])
    registry.registerAll([user("b", { ...PUT, path: "/people/{id}" })], { replace: true })
    registry.registerAll([user("a", PUT)])
    // They change places in one step.
    registry.registerAll([user("a", { ...PUT, path: "/people/{id}" }), user("b", PUT)], {
      replace: true,
    })
    expect(() => registry.registerAll([user("a", PUT)], { replace: true })).toThrow(`of "user.b"`)
    registry.registerAll([user("a", undefined), user("b", undefined)], { replace: true })
    registry.registerAll([user("c", PUT)])
  })
})

test("search finds an operation by its route", () => {
  const registry = quietRegistry([user("a", PUT), user("b", GET, query), user("c", undefined)])
  expect(registry.search("PUT /users/7").map(({ id }) => id)).toEqual(["user.a"])
  expect(registry.search("GET /users/{id}").map(({ id }) => id)).toEqual(["user.b"])
})
