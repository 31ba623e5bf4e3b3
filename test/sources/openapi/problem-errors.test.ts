// Problems of RFC 9457 whose codes a document tells, whoever wrote it.
import { describe, expect, test } from "vitest"
import { ErrorCode, isCallError, isDeclaredError } from "../../../src/index.ts"
import type { CallError, ErrorDefinition } from "../../../src/index.ts"
import { rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import type { Api } from "./api.ts"
import { importOne, oneOperation, openapi } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const PROBLEM = "application/problem+json"

/** A document with one operation that fails like this. */
function failing(responses: Raw, schemas: Raw = {}, version = "3.1.0", method = "post"): Raw {
  const document = oneOperation(
    "/x",
    method,
    { responses: { 200: { description: "" }, ...responses } },
    { components: { schemas } },
  )
  return { ...document, openapi: version }
}

function problem(schema: unknown, description = "Failed"): Raw {
  return { description, content: { [PROBLEM]: { schema } } }
}

/** A problem with a code and, if there are any, details. */
function coded(code: unknown, details?: unknown): Raw {
  return {
    type: "object",
    properties: { code, ...(details !== undefined && { details }) },
    required: ["code"],
  }
}

function errorsOf(document: Raw): readonly ErrorDefinition[] {
  return importOne(document).errorSchemas ?? []
}

function codesOf(document: Raw): string[] {
  return errorsOf(document).map(({ code }) => code)
}

const left = { type: "object", properties: { left: { type: "integer" } }, required: ["left"] }
const schemas = {
  Base: {
    type: "object",
    description: "RFC 9457",
    properties: { title: { type: "string" }, code: { type: "string" } },
  },
  OutOfStock: {
    description: "None are left",
    allOf: [{ $ref: "#/components/schemas/Base" }, coded({ const: "OUT_OF_STOCK" }, left)],
  },
  Closed: {
    allOf: [{ $ref: "#/components/schemas/Base" }, coded({ enum: ["CLOSED"] })],
  },
  Loop: { allOf: [{ $ref: "#/components/schemas/Loop" }] },
  Code: { type: "string", enum: ["A", "B"] },
}

describe("a problem whose code is given", () => {
  test("is an error of its own, with the schema of its details", () => {
    const [first, ...others] = errorsOf(
      failing({ 409: problem({ $ref: "#/components/schemas/OutOfStock" }) }, schemas),
    )

    expect(others).toEqual([])
    expect(first).toEqual({
      code: "OUT_OF_STOCK",
      description: "None are left",
      schema: left,
      httpStatus: 409,
    })
  })

  test.each<[what: string, schema: unknown, codes: readonly string[]]>([
    ["a const", coded({ const: "A" }, {}), ["A"]],
    ["a list of one", coded({ enum: ["A"] }, {}), ["A"]],
    ["a list of several", coded({ enum: ["A", "B", "A"] }, {}), ["A", "B"]],
    ["a reference", coded({ $ref: "#/components/schemas/Code" }, {}), ["A", "B"]],
    ["alternatives", { oneOf: [coded({ const: "A" }), coded({ const: "B" })] }, ["A", "B"]],
    [
      "alternatives of alternatives",
      { anyOf: [{ oneOf: [coded({ const: "A" })] }, { anyOf: [coded({ const: "B" })] }] },
      ["A", "B"],
    ],
    [
      "all of several",
      { allOf: [{ $ref: "#/components/schemas/Code" }, coded({ const: "B" })] },
      ["B"],
    ],
    [
      "what both allow",
      { allOf: [coded({ enum: ["A", "B"] }), coded({ enum: ["B", "C"] })] },
      ["B"],
    ],
    [
      "what stands beside a reference",
      { $ref: "#/components/schemas/Base", ...coded({ const: "A" }) },
      ["A"],
    ],
    ["alternatives, one without", { oneOf: [coded({ const: "A" }), {}] }, ["A", "HTTP_409"]],
    [
      "alternatives, one by status",
      { oneOf: [coded({ const: "A" }), coded({ type: "string" })] },
      ["A", "HTTP_409"],
    ],
    ["no text", coded({ const: 7 }), ["HTTP_409"]],
    ["a list with others", coded({ enum: ["A", 7] }), ["HTTP_409"]],
    ["an empty list", coded({ enum: [] }), ["HTTP_409"]],
    ["an empty text", coded({ const: "" }), ["HTTP_409"]],
    ["a very long text", coded({ const: "x".repeat(129) }), ["HTTP_409"]],
    ["a code of the library", coded({ const: ErrorCode.ACCESS_DENIED }), ["HTTP_409"]],
    ["codes of the library among others", coded({ enum: ["A", "TIMEOUT"] }), ["A", "HTTP_409"]],
    ["a name that statuses have", coded({ const: "HTTP_500" }), ["HTTP_409"]],
    ["the name of its status", coded({ const: "HTTP_409" }), ["HTTP_409"]],
    [
      "names that objects have",
      coded({ enum: ["__proto__", "toString"] }),
      ["__proto__", "toString"],
    ],
    ["a loop", { $ref: "#/components/schemas/Loop" }, ["HTTP_409"]],
    ["a reference that leads nowhere", { $ref: "#/components/schemas/None" }, ["HTTP_409"]],
    ["no schema", undefined, ["HTTP_409"]],
    ["anything", true, ["HTTP_409"]],
    ["nonsense", { allOf: 5, oneOf: [null, 7], properties: [] }, ["HTTP_409"]],
    [
      "a mark that is no word of this library",
      { ...coded({ type: "string" }), "x-operations-problem": "true" },
      ["HTTP_409"],
    ],
  ])("by %s", (_what, schema, codes) => {
    expect(codesOf(failing({ 409: problem(schema) }, schemas))).toEqual(codes)
  })

  test("does not get lost among very many, nor take forever", () => {
    const some = Array.from({ length: 200 }, (_, at) => coded({ const: `C${at}` }))
    const many = Array.from({ length: 5000 }, (_, at) => coded({ const: `C${at}` }))
    const wide = { anyOf: some }
    const crossed = { allOf: Array.from({ length: 30 }, () => ({ anyOf: [{}, {}] })) }
    let deep: Raw = coded({ const: "A" })
    for (let at = 0; at < 100; at++) deep = { allOf: [deep] }

    expect(codesOf(failing({ 409: problem(wide) }))).toHaveLength(200)
    for (const schema of [{ anyOf: many }, crossed, deep]) {
      expect(codesOf(failing({ 409: problem(schema) }))).toEqual(["HTTP_409"])
    }
  })

  test("is one error, however many responses have it", () => {
    const errors = errorsOf(
      failing({
        404: problem(coded({ const: "GONE" }, { type: "string" }), "Not here"),
        410: problem(coded({ const: "GONE" }, { type: "number" }), "Not any more"),
        default: problem(coded({ const: "GONE" }, { type: "number" })),
      }),
    )

    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      code: "GONE",
      description: "Not here",
      httpStatus: 404,
      schema: { anyOf: [{ type: "string" }, { type: "number" }, { type: "number" }] },
    })
  })

  test("has no status where it is in a range or in default", () => {
    const range = errorsOf(failing({ "4XX": problem(coded({ const: "A" }, {})) }))
    const other = errorsOf(failing({ default: problem(coded({ const: "A" }, {})) }))

    for (const [error] of [range, other]) {
      expect(error).toEqual({ code: "A", description: "Failed", schema: {} })
    }
  })

  test("has the schema of the whole problem where nothing is said about details", () => {
    const schema = {
      type: "object",
      properties: { code: { const: "A" }, left: { type: "integer" } },
      required: ["left"],
    }

    expect(errorsOf(failing({ 409: problem(schema) }))[0]?.schema).toEqual(schema)
  })

  test("leaves other content types of its response to the status", () => {
    const response = problem(coded({ const: "A" }))
    const both = {
      ...response,
      content: { ...(response["content"] as Raw), "application/json": { schema: {} } },
    }

    expect(codesOf(failing({ 409: both }))).toEqual(["A", "HTTP_409"])
    expect(
      codesOf(
        failing({
          409: {
            description: "",
            content: { "application/json": { schema: coded({ const: "A" }) } },
          },
        }),
      ),
    ).toEqual(["HTTP_409"])
  })

  test("counts in 3.0 too, where what stands beside a reference does not", () => {
    const beside = { $ref: "#/components/schemas/Base", ...coded({ enum: ["A"] }) }

    expect(codesOf(failing({ 409: problem(coded({ enum: ["A"] })) }, {}, "3.0.3"))).toEqual(["A"])
    expect(codesOf(failing({ 409: problem(beside) }, schemas, "3.0.3"))).toEqual(["HTTP_409"])
  })

  test("is found where a response is referred to, with parameters of its content type", () => {
    const document = openapi(
      {
        "/x": {
          get: {
            operationId: "op",
            responses: { 200: { description: "" }, 409: { $ref: "#/components/responses/No" } },
          },
        },
      },
      {
        components: {
          schemas,
          responses: {
            No: {
              description: "No",
              content: {
                "Application/Problem+JSON; charset=utf-8": {
                  schema: { $ref: "#/components/schemas/Closed" },
                },
              },
            },
          },
        },
      },
    )

    expect(errorsOf(document)).toMatchObject([
      { code: "CLOSED", description: "No", httpStatus: 409 },
    ])
  })
})

interface Answered {
  readonly body: unknown
  readonly status?: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

const stock = problem({ $ref: "#/components/schemas/OutOfStock" })

async function answering(
  { body, status = 409, type = PROBLEM, headers, method }: Answered,
  responses: Raw = { 409: stock },
  config: Parameters<typeof apiOf>[2] = {},
): Promise<Api> {
  return await apiOf(
    failing(responses, schemas, "3.1.0", method),
    (_request, response) => {
      response.writeHead(status, { "content-type": type, ...headers })
      response.end(typeof body === "string" ? body : JSON.stringify(body))
    },
    config,
  )
}

async function failed(api: Api): Promise<CallError> {
  const error = await rejection(api.registry.execute("api.op", {}))
  if (!isCallError(error)) throw error
  return error
}

const said = { code: "OUT_OF_STOCK", detail: "Only 3 are left.", details: { left: 3 } }

describe("an answer with a problem whose code is given", () => {
  test("is that error: its code, words and details", async () => {
    await using api = await answering({ body: said })
    const error = await failed(api)

    expect(error).toMatchObject({
      code: "OUT_OF_STOCK",
      message: "Only 3 are left.",
      details: { left: 3 },
      operationId: "api.op",
      cause: { code: "EXECUTION_ERROR", details: { statusCode: 409, body: said } },
    })
    const definition = api.registry.getSpec("api.op")
    expect(isDeclaredError(definition as never, error)).toBe(true)
    expect(api.log).toEqual([])
  })

  test("may leave out what it has to say", async () => {
    await using api = await answering({ body: { code: "OUT_OF_STOCK", title: "Sold out" } })
    const error = await failed(api)

    expect(error.code).toBe("OUT_OF_STOCK")
    expect(error.message).toMatch(/^HTTP 409 Conflict from POST .*: Sold out$/)
    expect(error.details).toBeUndefined()
  })

  test("has all of the problem as details where nothing is said about them", async () => {
    const schema = { allOf: [coded({ const: "A" }), { properties: { left: { type: "integer" } } }] }
    const body = { code: "A", detail: "No.", left: 3 }
    await using api = await answering({ body }, { 409: problem(schema) })

    expect(await failed(api)).toMatchObject({ code: "A", message: "No.", details: body })
  })

  test.each<[what: string, answer: Answered]>([
    ["details that are not as described", { body: { ...said, details: { left: "3" } } }],
    ["details that are null", { body: { ...said, details: null } }],
  ])("with %s is given by its status, with a warning", async (_what, answer) => {
    await using api = await answering(answer)

    expect(await failed(api)).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { statusCode: 409, body: answer.body },
    })
    expect(api.log).toEqual([
      [
        "An error is not as the document describes it",
        expect.objectContaining({ operationId: "api.op", declared: "OUT_OF_STOCK" }),
      ],
    ])
  })

  test.each<[what: string, answer: Answered]>([
    ["a code that is not given", { body: { ...said, code: "OTHER" } }],
    ["a code of the library", { body: { ...said, code: "UNAUTHENTICATED" } }],
    ["a name that objects have", { body: { ...said, code: "__proto__" } }],
    ["a code that is no text", { body: { ...said, code: 5 } }],
    ["an empty code", { body: { ...said, code: "" } }],
    ["no code", { body: { detail: "x" } }],
    ["a list", { body: [said] }],
    ["nothing", { body: "" }],
    ["what is no JSON", { body: "{" }],
    ["JSON of no particular kind", { body: said, type: "application/json" }],
    ["more than anybody reads", { body: { ...said, more: "x".repeat(300_000) } }],
  ])("with %s is given by its status", async (_what, answer) => {
    await using api = await answering(answer)
    const error = await failed(api)

    expect(error.code).toBe("EXECUTION_ERROR")
    expect(error.details).toMatchObject({ statusCode: 409 })
  })

  test("is given whole where it is longer than an error of a status would be", async () => {
    const body = { ...said, details: { left: 3, more: "x".repeat(100_000) } }
    await using api = await answering({ body })

    expect((await failed(api)).details).toEqual(body.details)
  })

  test("counts whatever its status is", async () => {
    await using api = await answering({ body: said, status: 503, headers: { "retry-after": "2" } })

    expect(await failed(api)).toMatchObject({
      ...{ code: "OUT_OF_STOCK", retryable: true, retryAfterMs: 2000, mayHaveExecuted: false },
    })
  })

  test("tells nobody a credential that it echoes", async () => {
    const token = "canary-token-12345"
    const body = { ...said, detail: `You sent ${token}`, details: { left: 1, token } }
    await using api = await answering({ body }, undefined, { auth: { type: "bearer", token } })
    const error = await failed(api)

    expect(error).toMatchObject({ code: "OUT_OF_STOCK", message: "You sent ***" })
    expect(JSON.stringify([error.details, error.cause, api.log])).not.toContain("canary")
  })

  test("is found before a stream begins", async () => {
    const spec = failing(
      { 200: { description: "", content: { "text/event-stream": {} } }, 409: stock },
      schemas,
    )
    await using api = await apiOf(spec, (_request, response) => {
      response.writeHead(409, { "content-type": PROBLEM })
      response.end(JSON.stringify(said))
    })
    const opened = api.registry.subscribe("api.op", {})[Symbol.asyncIterator]().next()

    expect(await rejection(opened)).toMatchObject({ code: "OUT_OF_STOCK", details: { left: 3 } })
  })
})

describe("what a stranger's problem says about trying again", () => {
  test.each<[status: number, method: string, claims: Raw, expected: Raw]>([
    [
      500,
      "post",
      { mayHaveExecuted: false, retryable: true },
      { mayHaveExecuted: true, retryable: false },
    ],
    [409, "post", { mayHaveExecuted: true }, { mayHaveExecuted: true, retryable: false }],
    [409, "post", { retryable: true }, { mayHaveExecuted: false, retryable: false }],
    [503, "post", { retryable: false }, { mayHaveExecuted: false, retryable: false }],
    [503, "post", {}, { mayHaveExecuted: false, retryable: true }],
    [
      500,
      "get",
      { mayHaveExecuted: "no", retryable: 1 },
      { mayHaveExecuted: false, retryable: false },
    ],
  ])("%i to %s with %j is %j", async (status, method, claims, expected) => {
    await using api = await answering({ body: { ...said, ...claims }, status, method })

    expect(await failed(api)).toMatchObject({ code: "OUT_OF_STOCK", ...expected })
  })

  test.each<[value: unknown, expected: number | undefined]>([
    [0, 0],
    [1500, 1500],
    [1e300, 2 ** 31 - 1],
    [-1, 7000],
    ["5", 7000],
    [null, 7000],
  ])("retryAfterMs of %j is %j", async (retryAfterMs, expected) => {
    const headers = { "retry-after": "7" }
    await using api = await answering({ body: { ...said, retryAfterMs }, headers })

    expect((await failed(api)).retryAfterMs).toBe(expected)
  })
})

describe("a problem that a document marks as one of this library", () => {
  const Problem = { type: "object", "x-operations-problem": true, properties: { code: {} } }
  const ours = { $ref: "#/components/schemas/Problem" }

  function marked(...branches: readonly Raw[]): Raw {
    const anyOf = branches.map((one) => ({ allOf: [ours], ...one }))
    return failing({ 409: problem({ anyOf }), default: problem(ours) }, { Problem })
  }

  async function says(body: Raw, status = 409): Promise<Api> {
    return await apiOf(marked(coded({ const: "A" }, left)), (_request, response) => {
      response.writeHead(status, { "content-type": PROBLEM })
      response.end(JSON.stringify(body))
    })
  }

  test("declares what it has as a const, and none of what it lists", () => {
    expect(
      codesOf(marked(coded({ const: "A" }, left), coded({ enum: ["CONFLICT", "NEW"] }))),
    ).toEqual(["A"])
  })

  test.each([
    { code: "A", details: { left: 1 } },
    { code: "TIMEOUT", details: { ms: 5 } },
    { code: "UNHEARD_OF" },
  ])("is the error that it was there: %j", async (about) => {
    const terms = { retryable: true, mayHaveExecuted: false, retryAfterMs: 5 }
    await using api = await says({ ...about, detail: "So it was.", ...terms }, 500)

    expect(await failed(api)).toMatchObject({ ...about, ...terms, message: "So it was." })
  })

  test("is believed no more than it can be", async () => {
    await using misfit = await says({ code: "A", details: { left: "1" } })
    await using odd = await says(
      { code: "TIMEOUT", detail: 5, retryable: "yes", retryAfterMs: "x" },
      500,
    )
    await using long = await says({ code: "x".repeat(1000) })

    expect(await failed(misfit)).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { statusCode: 409 },
    })
    expect(await failed(odd)).toMatchObject({
      code: "TIMEOUT",
      retryable: false,
      mayHaveExecuted: true,
    })
    expect((await failed(odd)).message).toMatch(/^HTTP 500/)
    expect((await failed(odd)).retryAfterMs).toBeUndefined()
    expect(await failed(long)).toMatchObject({ code: "EXECUTION_ERROR" })
  })
})
