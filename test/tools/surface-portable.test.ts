import fc from "fast-check"
import type { TSchema } from "typebox"
import { describe, expect, test } from "vitest"
import { collectErrors } from "../../src/index.ts"
import type { AnyOperation } from "../../src/index.ts"
import { inlined } from "../../src/tools/inline-schemas.ts"
import { portableInput, unportable } from "../../src/tools/portable-input.ts"
import { inputForm } from "../../src/tools/tool-forms.ts"
import { operation } from "../support/operations.ts"
import { callOf, textsOf, toolOf } from "./surface-support.ts"
import { runs } from "../support/nightly.ts"

const portable = { schemaProfile: "portable" as const }

function taking(inputSchema: unknown): AnyOperation {
  return operation("a.b", {
    description: "Does.",
    inputSchema: inputSchema as TSchema,
    handler: (input) => input,
  })
}

const shapes = {
  oneOf: [
    {
      type: "object",
      properties: { kind: { const: "circle" }, radius: { type: "number" } },
      required: ["kind", "radius"],
    },
    {
      type: "object",
      properties: { kind: { const: "box" }, width: { type: "number" }, depth: { type: "number" } },
      required: ["kind", "width"],
    },
  ],
}

describe("the portable profile", () => {
  test("flattens a union at the root to one object, and describes the alternatives in words", () => {
    const tool = toolOf(taking(shapes), portable)
    expect(tool.inputSchema).toEqual({
      type: "object",
      properties: {
        kind: { enum: ["circle", "box"] },
        radius: { type: "number" },
        width: { type: "number" },
        depth: { type: "number" },
      },
      required: ["kind"],
    })
    expect(tool.description).toBe(
      'Does. Give exactly one of these sets of inputs: (1) kind = "circle", radius; (2) kind = "box", width, depth?.',
    )
  })

  test("still checks what the operation says", async () => {
    expect(textsOf(await callOf(taking(shapes), { kind: "box", width: 1 }, portable))).toBe(
      '{"kind":"box","width":1}',
    )
    expect((await callOf(taking(shapes), { kind: "box" }, portable)).isError).toBe(true)
  })

  test("joins what has to hold together, and what holds only sometimes", () => {
    const { inputSchema, description } = toolOf(
      taking({
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        allOf: [
          { properties: { b: { type: "number" }, a: { minLength: 2 } }, required: ["b"] },
          { anyOf: [{ required: ["c"] }, { required: ["d"] }] },
        ],
        if: { properties: { a: { const: "x" } } },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: { properties: { e: { type: "boolean" } } },
        additionalProperties: true,
      }),
      portable,
    )
    expect(inputSchema).toEqual({
      type: "object",
      properties: {
        a: { allOf: [{ type: "string" }, { minLength: 2 }] },
        b: { type: "number" },
        e: { type: "boolean" },
      },
      required: ["a", "b"],
      additionalProperties: true,
    })
    expect(description).toContain("Give one of these sets of inputs: (1) c; (2) d.")
  })

  test("puts what is referred to in place, and ends where a schema is inside itself", () => {
    const tree = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $defs: {
        node: {
          type: "object",
          description: "A node",
          properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } },
        },
      },
      type: "object",
      properties: { root: { $ref: "#/$defs/node", title: "Root" } },
    }
    expect(toolOf(taking(tree), portable).inputSchema).toEqual({
      type: "object",
      properties: {
        root: {
          type: "object",
          description: "A node",
          title: "Root",
          properties: {
            children: { type: "array", items: { type: "object", description: "A node" } },
          },
        },
      },
    })
  })

  test("stays small for references that double at each step", () => {
    const $defs: Record<string, unknown> = { n0: { type: "string" } }
    for (let step = 1; step < 40; step++) {
      const $ref = `#/$defs/n${step - 1}`
      $defs[`n${step}`] = { type: "object", properties: { a: { $ref }, b: { $ref } } }
    }
    const schema = inlined({ $defs, type: "object", properties: { a: { $ref: "#/$defs/n39" } } })
    expect(JSON.stringify(schema).length).toBeLessThan(1_000_000)
  })

  test("has no booleans, tuples or lists without items", () => {
    expect(
      toolOf(
        taking({
          type: "object",
          properties: {
            any: true,
            none: false,
            list: { type: "array" },
            pair: {
              type: "array",
              prefixItems: [{ type: "string" }, { type: "number" }],
              items: false,
            },
          },
          additionalProperties: false,
        }),
        portable,
      ).inputSchema,
    ).toEqual({
      type: "object",
      properties: {
        any: {},
        list: { type: "array", items: {} },
        pair: {
          type: "array",
          items: { anyOf: [{ type: "string" }, { type: "number" }] },
          description: "One item for each of these, in this order.",
        },
      },
      additionalProperties: false,
    })
  })

  test("renames inputs whose names are refused, and gives them back to the handler", async () => {
    const one = taking({
      type: "object",
      properties: {
        "filter[name]": { type: "string" },
        filter_name_: { type: "string" },
        __proto__x: {},
      },
      required: ["filter[name]"],
    })
    const { properties, required } = toolOf(one, portable).inputSchema as {
      readonly properties: Record<string, unknown>
      readonly required: unknown
    }
    expect(properties).toMatchObject({
      filter_name__2: { type: "string", title: "filter[name]" },
      filter_name_: { type: "string" },
    })
    expect(required).toEqual(["filter_name__2"])
    expect(textsOf(await callOf(one, { filter_name__2: "x", filter_name_: "y" }, portable))).toBe(
      '{"filter[name]":"x","filter_name_":"y"}',
    )
  })

  test("leaves alone what every client takes", () => {
    const plain = {
      type: "object",
      properties: { a: { anyOf: [{ type: "string" }, { type: "null" }], "x-mcp-header": "A" } },
      required: ["a"],
      additionalProperties: false,
    }
    expect(unportable(plain)).toEqual([])
    expect(toolOf(taking(plain), portable).inputSchema).toEqual(plain)
  })
})

describe("for any schema", () => {
  const leaf = fc.constantFrom<object>(
    { type: "string" },
    { type: "number" },
    { const: 1 },
    { enum: ["a", 1] },
    { $ref: "#/$defs/d" },
    {},
  )
  const object = fc
    .tuple(
      fc.dictionary(fc.constantFrom("a", "b", "c", "d[e]"), leaf),
      fc.subarray(["a", "b", "c"]),
    )
    .map(([properties, required]) => ({ type: "object", properties, required }))
  // Closed: an open alternative lets the inputs of another be anything, which nobody means.
  const closed = object.map((one) => ({ ...one, additionalProperties: false }))
  const root = fc.oneof(
    object,
    fc.array(closed, { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.array(closed, { minLength: 1, maxLength: 3 }).map((oneOf) => ({ oneOf })),
    fc.tuple(object, object).map(([one, two]) => ({ ...one, allOf: [two] })),
  )
  const schema = root.map((one) => ({
    $defs: { d: { type: "boolean" } },
    ...(one as Record<string, unknown>),
  }))
  const value = fc.dictionary(
    fc.constantFrom("a", "b", "c", "d[e]"),
    fc.constantFrom<unknown>("a", "text", 1, 2, true),
  )

  test("the rewritten one is portable", () => {
    fc.assert(
      fc.property(schema, (one) => {
        expect(unportable(portableInput(inputForm(one)).schema)).toEqual([])
      }),
    )
  })

  test("the rewritten one accepts whatever the operation does", () => {
    fc.assert(
      fc.property(schema, value, (one, input) => {
        fc.pre(collectErrors(one, input).length === 0)
        const form = portableInput(inputForm(one))
        const given = Object.fromEntries(
          Object.entries(input).map(([key, item]) => [key === "d[e]" ? "d_e_" : key, item]),
        )
        expect(collectErrors(form.schema, given)).toEqual([])
      }),
      { numRuns: runs(30) },
    )
  })
})
