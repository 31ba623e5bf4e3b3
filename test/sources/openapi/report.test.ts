import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { oneOperation, openapi } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OK = { responses: { 200: { description: "" } } }

const spec: Raw = openapi(
  {
    "/kept": { get: OK },
    "/renamed/{id}": {
      get: {
        ...OK,
        parameters: [
          { name: "id", in: "path", required: true, schema: {} },
          { name: "id", in: "query", schema: {} },
        ],
      },
    },
    "/widened": {
      get: {
        operationId: "wide",
        ...OK,
        parameters: [
          { name: "a", in: "query", schema: { type: "string", pattern: "(" } },
          { name: "b", in: "query", schema: { $ref: "#/nowhere" } },
          { name: "c", in: "nowhere" },
          { in: "query" },
          5,
        ],
      },
    },
    "/skipped": { get: 5 },
    "/filtered": { get: OK },
    "/both": {
      get: { responses: { 200: { content: { "application/json": {}, "text/event-stream": {} } } } },
    },
  },
  { openapi: "3.9.0", info: { title: "Shop", version: "7" } },
)

const report = FromOpenAPI(spec, {
  namespace: "shop",
  filter: ({ path }) => path !== "/filtered",
}).report

describe("the report of an import", () => {
  test("counts what became of the operations", () => {
    expect(report.counts).toEqual({
      kept: 4,
      widened: 1,
      skipped: 1,
      widenedErrors: 0,
      filtered: 1,
      twins: 1,
      webhooks: 0,
      callbacks: 0,
    })
    expect(report).toMatchObject({ title: "Shop", version: "7" })
  })

  test("says of each what became of it, and why", () => {
    const [kept, renamed, widened] = report.operations

    expect(kept).toEqual({
      id: "shop.get_kept",
      method: "GET",
      path: "/kept",
      status: "kept",
      notes: [],
    })
    expect(renamed).toMatchObject({
      status: "kept",
      notes: [{ message: expect.stringContaining('passed as "query_id"') as unknown }],
    })
    expect(widened).toMatchObject({ id: "shop.wide", status: "widened" })
    expect(widened?.notes.map(({ pointer }) => pointer).toSorted()).toEqual([
      "/paths/~1widened/get/parameters/0/schema/pattern",
      "/paths/~1widened/get/parameters/1/schema",
      "/paths/~1widened/get/parameters/2",
      "/paths/~1widened/get/parameters/3",
      "/paths/~1widened/get/parameters/4",
    ])
    expect(report.operations.at(-1)).toEqual({
      method: "GET",
      path: "/skipped",
      status: "skipped",
      notes: [{ pointer: "/paths/~1skipped/get", message: "An operation must be an object." }],
    })
  })

  test("says what is odd about the document", () => {
    expect(report.warnings).toEqual([expect.stringContaining('"3.9.0"')])
  })

  test("is data, and text to read", () => {
    const data = JSON.parse(JSON.stringify(report)) as Raw
    const lines = String(report).split("\n")

    expect(Object.keys(data)).toEqual(["title", "version", "counts", "operations", "warnings"])
    expect(lines[0]).toBe(
      "Shop 7: 4 kept, 1 widened, 1 skipped, 1 filtered out, 1 of them streams of operations that also return a plain response",
    )
    expect(lines[1]).toMatch(/^! .*"3\.9\.0"/)
    expect(lines).toContain("skipped GET /skipped")
    expect(lines).toContain("widened GET /widened (shop.wide)")
    expect(lines.at(-1)).toBe("  and 2 more")
  })

  test("of a large document shows the first of each kind", () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_none, index) => [`/p${index}`, { get: 5, post: OK }]),
    )
    const text = String(FromOpenAPI(openapi(many), { namespace: "api" }).report)

    expect(text.split("\n").filter((line) => line.startsWith("skipped "))).toHaveLength(20)
    expect(text).toContain("and 10 more skipped")
  })

  test("is the same object each time, and the same for the same document", () => {
    const operations = FromOpenAPI(spec, { namespace: "shop" })

    expect(operations.report).toBe(operations.report)
    expect(FromOpenAPI(spec, { namespace: "shop" }).report).toEqual(operations.report)
    expect(Object.keys(operations)).not.toContain("report")
  })
})

describe("a security scheme", () => {
  const notesOf = (more: Raw): readonly string[] => {
    const secured = oneOperation("/x", "get", { security: [{ o: [] }] }, more)
    const { operations, counts } = FromOpenAPI(secured, { namespace: "api" }).report
    expect(counts).toMatchObject({ kept: 1 })
    return operations.flatMap(({ notes }) => notes.map(({ message }) => message))
  }

  test("that is a broken reference is reported as one", () => {
    const [note, ...others] = notesOf({
      components: { securitySchemes: { o: { $ref: "other.yaml#/x" } } },
    })

    expect(others).toEqual([])
    expect(note).toMatch(/^Reference "other.yaml#\/x" cannot be followed: /)
    expect(note).toContain('Pass the credential of "o" as an object')
  })

  test.each([{}, { components: { securitySchemes: { $ref: "#/nowhere" } } }])(
    "that nobody declares is reported as such",
    (more) => {
      expect(notesOf(more)).toEqual([
        'The document declares no security scheme "o": pass its credential as an object that says how to send it.',
      ])
    },
  )
})
