import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as z from "zod"
import { createRegistry } from "../../../src/engine/registry.ts"
import { inputOrEmpty } from "../../../src/serve/http/call-sink.ts"
import { apiOf, eventsOf, operation } from "./routes-support.ts"
import type { Api } from "./routes-support.ts"

const got = (input: unknown): unknown => ({ got: input === undefined ? "nothing" : input })

/** Input schemas, and what a request without a body is to their operation; an error where that is wrong. */
const SCHEMAS: Readonly<Record<string, readonly [schema: unknown, got: unknown]>> = {
  empty: [Type.Object({}), {}],
  closed: [Type.Object({}, { additionalProperties: false }), {}],
  optional: [Type.Object({ a: Type.Optional(Type.String()) }), {}],
  filled: [Type.Object({ a: Type.Integer({ default: 3 }) }), { a: 3 }],
  zod: [z.object({ a: z.string().optional() }), {}],
  zodFilled: [z.object({ a: z.number().default(4) }), { a: 4 }],
  referred: [{ $ref: "#/$defs/one", $defs: { one: { type: "object" } } }, {}],
  either: [Type.Union([Type.Object({ a: Type.String() }), Type.Object({})]), {}],
  any: [{}, "nothing"],
  unknown: [Type.Unknown(), "nothing"],
  required: [Type.Object({ a: Type.String() }), undefined],
  few: [Type.Object({}, { minProperties: 1 }), undefined],
  text: [Type.String(), undefined],
  list: [Type.Array(Type.String()), undefined],
  nullable: [Type.Union([Type.Object({}), Type.Null()]), undefined],
}

const registry = createRegistry([
  ...Object.entries(SCHEMAS).map(([name, [inputSchema]]) =>
    operation({ name, type: "mutation", inputSchema: inputSchema as never, handler: got }),
  ),
  operation({
    name: "stream",
    type: "subscription",
    inputSchema: Type.Object({}),
    handler: async function* (input: unknown) {
      yield got(input)
    },
  }),
])
let api: Api

beforeAll(() => {
  api = apiOf(registry)
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

describe("a request without a body", () => {
  it.each(Object.entries(SCHEMAS))("is to %s what makes sense", async (name, [, expected]) => {
    const data = { got: expected }
    const bare = { method: "POST" }
    const blank = { ...bare, headers: { "content-type": "application/json" }, body: " \n" }
    for (const init of [bare, blank]) {
      const called = await api(`/operations/shop.${name}`, init)
      const rest = await api(`/api/shop/${name}`, init)
      const problem = { status: 400, code: "VALIDATION_ERROR", mayHaveExecuted: false }
      expect(await called.json()).toMatchObject(expected === undefined ? problem : { data })
      expect(await rest.json()).toMatchObject(expected === undefined ? problem : data)
    }
    const batch = await api.post("/batch", [{ id: `shop.${name}` }])
    expect(await batch.json()).toMatchObject({
      results: [
        expected === undefined
          ? { ok: false, problem: { code: "VALIDATION_ERROR" } }
          : { ok: true, envelope: { data } },
      ],
    })
  })

  it("opens streams too", async () => {
    const headers = { accept: "text/event-stream" }
    const expected = [{ data: { got: {} } }, { name: "end", data: {} }]
    const envelope = [{ data: { data: { got: {} } } }, { name: "end" }]
    const init = { method: "POST", headers }
    expect(await eventsOf(await api("/api/shop/stream", init))).toEqual(expected)
    expect(await eventsOf(await api("/api/shop/stream", { headers }))).toEqual(expected)
    expect(await eventsOf(await api("/operations/shop.stream", init))).toMatchObject(envelope)
    expect(await eventsOf(await api("/operations/shop.stream", { headers }))).toMatchObject(
      envelope,
    )
  })

  it("is not what null is, or an empty list", async () => {
    for (const body of ["null", "[]", '""', "0"]) {
      const headers = { "content-type": "application/json" }
      const answer = await api("/api/shop/empty", { method: "POST", headers, body })
      expect(answer.status).toBe(400)
    }
  })
})

it("nothing stays nothing where that is an input itself", () => {
  const spec = operation({ inputSchema: Type.Union([Type.Object({}), Type.Void()]) })
  expect(inputOrEmpty(undefined, spec)).toBeUndefined()
  expect(inputOrEmpty(null, spec)).toBeNull()
  expect(inputOrEmpty(undefined, operation({ inputSchema: Type.Object({}) }))).toEqual({})
})
