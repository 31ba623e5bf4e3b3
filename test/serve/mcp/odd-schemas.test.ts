import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/core/errors.ts"
import { OperationRegistry } from "../../../src/engine/registry.ts"
import { Authenticator, identityGiven } from "../../../src/serve/mcp/auth.ts"
import type { GivenCaller } from "../../../src/serve/mcp/auth.ts"
import type { HTTPIncoming } from "../../../src/serve/exchange.ts"
import { errorText } from "../../../src/tools/tool-errors.ts"
import { flattened, portableInput, unportable } from "../../../src/tools/portable-input.ts"
import { paramMismatch } from "../../../src/serve/mcp/headers.ts"
import { ToolSurface } from "../../../src/tools/surface.ts"
import { Refusal } from "../../../src/serve/mcp/answers.ts"
import { missingCapabilities, readAnswer, wireQuestion } from "../../../src/serve/mcp/questions.ts"
import { headed } from "./support/clients.ts"

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

describe("one object in place of several", () => {
  test("has what only sometimes holds as what may be given", () => {
    const { schema, note } = flattened({
      if: {},
      then: { properties: { a: { type: "string" } } },
      else: { properties: { a: { type: "number" }, b: {} } },
      dependentSchemas: { a: { properties: { c: { const: 1 } } }, b: true },
    })

    expect(schema).toEqual({
      type: "object",
      properties: {
        a: { anyOf: [{ type: "string" }, { type: "number" }] },
        b: {},
        c: { const: 1 },
      },
    })
    expect(note).toBeUndefined()
  })

  test("tells twelve ways, and how many more there are", () => {
    const ways = Array.from({ length: 14 }, (_, index) => ({
      properties: { kind: { const: index } },
      required: ["kind", 7],
    }))
    const { schema, note } = flattened({ oneOf: ways })

    expect(schema["required"]).toEqual(["kind"])
    expect(note).toContain("Give exactly one of these sets of inputs: (1) kind = 0;")
    expect(note).toMatch(/\(12\) kind = 11; and 2 more\.$/)
  })

  test("takes odd alternatives for nothing more", () => {
    const { schema, note } = flattened({ anyOf: [true, null, { required: "a" }], allOf: "x" })

    expect(schema).toEqual({ type: "object", properties: {} })
    expect(note).toBe(
      "Give one of these sets of inputs: (1) nothing more; (2) nothing more; (3) nothing more.",
    )
    expect(flattened({ anyOf: [] }).note).toBeUndefined()
  })

  test("joins what has the same name", () => {
    const one = { properties: { a: { enum: [1, 2], title: "A" }, b: {}, c: { type: "string" } } }
    const two = { properties: { a: { const: 3 }, b: { type: "null" }, c: {} } }

    expect(flattened({ anyOf: [one, two] }).schema["properties"]).toEqual({
      a: { enum: [1, 2, 3], title: "A" },
      b: {},
      c: {},
    })
    expect(flattened({ allOf: [one, two] }).schema["properties"]).toEqual({
      a: { allOf: [{ enum: [1, 2], title: "A" }, { const: 3 }] },
      b: { type: "null" },
      c: { type: "string" },
    })
  })

  test("has an end, however deep the schema is", () => {
    let deep: Record<string, unknown> = { properties: { bottom: {} } }
    for (let level = 0; level < 40; level++) deep = { allOf: [deep] }

    expect(flattened(deep).schema).toEqual({ type: "object", properties: {} })
  })
})

describe("an input for every client", () => {
  const form = (schema: Record<string, unknown>) => ({
    schema,
    pointer: "",
    toInput: (args: Readonly<Record<string, unknown>>) => args,
  })

  test("has plain names, which no other property has", () => {
    const { schema, toInput } = portableInput(
      form({
        type: "object",
        properties: { "a b": true, a_b: {}, "": { title: "own" }, ü: { type: "string" } },
        required: ["a b", "a_b", 5],
      }),
    )

    expect(Object.keys(schema["properties"] as object)).toEqual(["a_b_2", "a_b", "_", "__2"])
    expect(schema["properties"]).toMatchObject({
      a_b_2: { title: "a b" },
      _: { title: "own" },
      __2: { title: "ü" },
    })
    expect(schema["required"]).toEqual(["a_b_2", "a_b", 5])
    expect(toInput({ a_b_2: 1, a_b: 2, _: 3, other: 4 })).toEqual({
      "a b": 1,
      a_b: 2,
      "": 3,
      other: 4,
    })
  })

  test("without properties stays as it is", () => {
    const plain = form({ type: "object" })

    expect(portableInput(plain).schema).toEqual({ type: "object" })
    expect(portableInput(plain).toInput).toBe(plain.toInput)
  })

  test("reasons for refused schemas are listed once", () => {
    expect(
      unportable({
        $ref: "https://example.com/other.json",
        anyOf: [{ type: "array" }, { type: "array" }],
        properties: { "a b": false, ok: { type: "array", items: true } },
      }),
    ).toEqual([
      `"anyOf" at the root`,
      `"$ref" at the root`,
      `a property named "a b"`,
      "a reference to another document",
      "a property that is false",
      `an array without "items"`,
    ])
    expect(unportable({ properties: [] })).toEqual([])
  })

  test("looks no deeper than anyone nests", () => {
    let deep: Record<string, unknown> = { type: "array" }
    for (let level = 0; level < 80; level++) deep = { items: deep }

    expect(unportable(deep)).toEqual([])
  })
})

describe("headers that repeat arguments", () => {
  const schema = {
    properties: {
      big: { type: "integer", "x-mcp-header": "Big" },
      flag: { type: "boolean", "x-mcp-header": "Flag" },
      list: { type: "array", "x-mcp-header": "List" },
      deep: { properties: { text: { type: "string", "x-mcp-header": "Text" } } },
      odd: true,
    },
  }
  const check = (input: unknown, headers: Record<string, string> = {}): string | undefined =>
    paramMismatch(schema, input, headed(headers))?.reason

  test("are not asked for what no header can say", () => {
    expect(check({ big: 2 ** 60, list: [1] })).toBeUndefined()
    expect(check({ big: Number.NaN })).toBeUndefined()
    expect(check(null)).toBeUndefined()
    expect(check({ deep: "no object" })).toBeUndefined()
    expect(paramMismatch(true, {}, headed({}))).toBeUndefined()
  })

  test("have to say the same", () => {
    expect(check({ flag: true })).toBe("flag: the body has it and the header is missing")
    expect(check({ flag: true }, { "Mcp-Param-Flag": "false" })).toContain("different values")
    expect(check({ big: 5 }, { "Mcp-Param-Big": "5.0" })).toBeUndefined()
    expect(check({ big: 5 }, { "Mcp-Param-Big": "0x5" })).toContain("different values")
    expect(check({ deep: { text: "é" } }, { "Mcp-Param-Text": "=?base64?w6k=?=" })).toBeUndefined()
    expect(check({ deep: { text: "é" } }, { "Mcp-Param-Text": "=?base64?/w==?=" })).toBe(
      "deep.text: the header is not valid Base64",
    )
    expect(check({ deep: { text: "é" } }, { "Mcp-Param-Text": "=?base64?*?=" })).toContain(
      "not valid Base64",
    )
  })

  test("are looked for to some depth only", () => {
    let deep: Record<string, unknown> = { type: "string", "x-mcp-header": "Deep" }
    let input: unknown = "value"
    for (let level = 0; level < 40; level++) {
      deep = { properties: { a: deep } }
      input = { a: input }
    }

    expect(paramMismatch(deep, input, headed({}))).toBeUndefined()
  })
})

describe("questions in the words of MCP", () => {
  const schema = { type: "object" } as const

  test("a form is one with and without its type", () => {
    const asked = { message: "Name?", schema }
    const expected = {
      method: "elicitation/create",
      params: { message: "Name?", requestedSchema: schema },
    }

    expect(wireQuestion({ type: "form", ...asked } as never)).toEqual(expected)
    expect(wireQuestion(asked as never)).toEqual(expected)
  })

  test("need what the client has declared", () => {
    const url = { method: "elicitation/create", params: { mode: "url" } } as const
    const form = { method: "elicitation/create", params: {} } as const
    const tools = { method: "sampling/createMessage", params: { toolChoice: {} } } as const

    expect(missingCapabilities(url, { elicitation: {} })).toEqual({ elicitation: { url: {} } })
    expect(missingCapabilities(form, { elicitation: {} })).toBeUndefined()
    expect(missingCapabilities(form, { elicitation: { url: {} } })).toEqual({
      elicitation: { form: {} },
    })
    expect(missingCapabilities(tools, { sampling: {} })).toEqual({ sampling: { tools: {} } })
    expect(missingCapabilities(tools, undefined)).toEqual({ sampling: { tools: {} } })
    expect(missingCapabilities(tools, { sampling: { tools: {} } })).toBeUndefined()
    expect(missingCapabilities({ method: "roots/list" }, undefined)).toEqual({ roots: {} })
  })

  test.each<["elicitation/create" | "sampling/createMessage" | "roots/list", unknown]>([
    ["roots/list", null],
    ["roots/list", { roots: "none" }],
    ["sampling/createMessage", { role: "user" }],
    ["sampling/createMessage", { role: 1, content: {} }],
    ["elicitation/create", { action: "agree" }],
    ["elicitation/create", { action: "accept", content: "text" }],
  ])("%s: %j is no answer", (method, value) => {
    expect(readAnswer({ method }, value)).toBeUndefined()
  })

  test("an answer may be without content", () => {
    const question = { method: "elicitation/create" } as const

    expect(readAnswer(question, { action: "decline", content: null })).toEqual({
      action: "decline",
    })
    expect(readAnswer({ method: "roots/list" }, { roots: [] })).toEqual({
      action: "accept",
      content: { roots: [] },
    })
  })
})

describe("the door", () => {
  const incoming = { like: { headers: { host: "localhost" }, url: "/" } } as unknown as HTTPIncoming

  /** Whom a door admits, or what it answers instead. */
  async function admit(door: Authenticator, caller?: GivenCaller): Promise<unknown> {
    try {
      return await door.admit({ ...incoming, identity: identityGiven(caller) })
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      throw error
    }
  }

  test("an anonymous caller lacks required scopes", async () => {
    const door = new Authenticator({ requiredScopes: ["a", "b"] }, SILENT)
    const answer = await admit(door)

    expect(answer).toMatchObject({
      status: 403,
      headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="a b"` },
    })
  })

  test("metadata of a whole origin is at the well-known path itself", () => {
    const metadata = { resource: "https://example.com/", authorization_servers: [] }
    const door = new Authenticator({ resourceMetadata: metadata }, SILENT)
    const path = "/.well-known/oauth-protected-resource"

    const { body } = door.metadata({ method: "GET", path }) ?? {}
    expect(JSON.parse(body as string)).toEqual(metadata)
    expect(door.metadata({ method: "POST", path })?.status).toBe(405)
    expect(door.metadata({ method: "GET", path: `${path}/mcp` })).toBeUndefined()
    const wrong = { resource: "no address", authorization_servers: [] }
    expect(() => new Authenticator({ resourceMetadata: wrong }, SILENT)).toThrow(TypeError)
  })

  test("a thrown value that is not an error is reported as text", async () => {
    const logged: unknown[] = []
    const logger = { ...SILENT, info: (_: string, fields?: unknown) => logged.push(fields) }
    const authenticate = () => {
      throw "broken" as unknown
    }
    const door = new Authenticator({ authenticate }, logger)
    const answer = await admit(door)

    expect(answer).toMatchObject({ status: 401 })
    expect(logged).toEqual([{ status: 401, reason: "broken" }])
  })

  test("who was found before is taken, by subject or by client", async () => {
    const door = new Authenticator({}, SILENT)
    const authInfo = { clientId: "client", scopes: ["a"] }

    expect(await admit(door, { authInfo })).toEqual({
      identity: { id: "client", scopes: ["a"] },
    })
    expect(await admit(door, { authInfo: { ...authInfo, extra: { sub: "me" } } })).toEqual({
      identity: { id: "me", scopes: ["a"] },
    })
    expect(await admit(door, {})).toEqual({ identity: undefined })
  })
})

describe("names and words", () => {
  test("a registry without operations has no instructions", () => {
    expect(new ToolSurface(new OperationRegistry()).namespaces(undefined)).toBeUndefined()
  })

  test("malformed issues are left out", () => {
    const errors = [null, { path: 5 }, { path: "", message: "wrong" }]
    const error = new CallError("VALIDATION_ERROR", "Input is invalid: wrong", {
      details: { errors },
    })
    const [content] = errorText(error, "").content as [{ text: string }]

    expect(content.text).toBe("VALIDATION_ERROR: Input is invalid:\n- (the whole input): wrong")
  })
})
