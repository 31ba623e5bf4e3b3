// Examples of a document are accepted as inputs, and those of imported operations are valid inputs.
import { describe, expect, test } from "vitest"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { refusedExamples } from "./document-examples.ts"
import { importOne, oneOperation } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const BODY = {
  type: "object",
  properties: { a: { type: "integer" } },
  required: ["a"],
}

function specOf(
  parameters: readonly Raw[],
  media: Raw,
  path = "/x",
  types: readonly string[] = ["application/json"],
): Raw {
  const content = Object.fromEntries(types.map((type) => [type, { schema: BODY, ...media }]))
  return oneOperation(path, "post", { parameters, requestBody: { required: true, content } })
}

describe("an example of an imported operation", () => {
  const id = { in: "path", name: "id", required: true }
  const text = { type: "string" }

  test.each<[string, Raw, unknown]>([
    ["the example of a parameter", { ...id, example: "i-7", schema: text }, "i-7"],
    ["its first named example", { ...id, examples: { a: { value: "n" } }, schema: text }, "n"],
    ["the example of its schema", { ...id, schema: { ...text, example: "s" } }, "s"],
    ["an example of its schema in 3.1", { ...id, schema: { ...text, examples: ["t"] } }, "t"],
    ["its default", { ...id, schema: { ...text, default: "d" } }, "d"],
    ["its first allowed value", { ...id, schema: { ...text, enum: ["e", "f"] } }, "e"],
    ["its only value", { ...id, schema: { const: "c" } }, "c"],
    ["its name, if it is any text", { ...id, schema: text }, "id"],
    ["its name, if nothing is known of it", id, "id"],
    ["1, if it is any number", { ...id, schema: { type: "integer" } }, 1],
    [
      "the example of its content",
      {
        ...id,
        content: { "application/json": { schema: { type: "object" }, example: { deep: 1 } } },
      },
      { deep: 1 },
    ],
  ])("has %s", (_what, parameter, expected) => {
    const { examples, inputSchema } = importOne(
      specOf([parameter], { example: { a: 1 } }, "/x/{id}"),
    )

    expect(examples).toEqual([{ id: expected, body: { a: 1 } }])
    expect(compileSchema(inputSchema).check(examples?.[0])).toBe(true)
  })

  test("has no value of a parameter that is not required", () => {
    const optional = { in: "query", name: "q", example: "x", schema: text }

    expect(importOne(specOf([optional], { example: { a: 1 } })).examples).toEqual([
      { body: { a: 1 } },
    ])
  })

  test.each<[string, Raw, Raw]>([
    ["does not fit its schema", { ...id, schema: text }, { example: { a: "one" } }],
    [
      "lacks a value that nobody can guess",
      { ...id, schema: { ...text, pattern: "^i-" } },
      { example: { a: 1 } },
    ],
    [
      "has a parameter with a wrong example",
      { ...id, schema: { type: "integer" }, example: "x" },
      { example: { a: 1 } },
    ],
    ["is too deep", { ...id, schema: text }, { example: deep(900) }],
  ])("is left out if it %s", (_what, parameter, media) => {
    expect(importOne(specOf([parameter], media, "/x/{id}")).examples).toBeUndefined()
  })

  test("is one of those that are valid, of the first content type that has one", () => {
    const media = { examples: { wrong: { value: {} }, right: { value: { a: 2 } } } }
    const types = ["application/xml", "application/json"]
    const spec = specOf([], media, "/x", types)
    const xml = { schema: BODY, example: "<a>1</a>" }
    const { paths } = spec as { paths: { "/x": { post: { requestBody: { content: Raw } } } } }
    Object.assign(paths["/x"].post.requestBody.content, { "application/xml": xml })

    expect(importOne(spec).examples).toEqual([{ body: { a: 2 } }])
  })

  test("has separate inputs of a flat body, and keys that objects have by nature", () => {
    const odd = { in: "query", name: "__proto__", required: true, example: "p", schema: text }
    const [example] =
      importOne(specOf([odd], { example: { a: 1 } }), { flatten: true }).examples ?? []

    expect(Object.entries(example as object)).toEqual([
      ["__proto__", "p"],
      ["a", 1],
    ])
  })

  test("is made once", () => {
    const operation = importOne(specOf([], { example: { a: 1 } }))

    expect(operation.examples).toBe(operation.examples)
  })
})

describe("examples of a document", () => {
  const ref = (name: string): Raw => ({ $ref: `#/components/schemas/${name}` })
  const schemas = {
    Pet: { oneOf: [ref("Cat"), ref("Dog")], discriminator: { propertyName: "kind" } },
    Cat: { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] },
    Dog: { type: "object", properties: { bark: { type: "integer" } }, required: ["bark"] },
    Issue: {
      type: "object",
      properties: { id: { type: "integer", readOnly: true } },
      additionalProperties: false,
    },
  }

  test.each<[string, Raw]>([
    ["with an unknown discriminator", { schema: ref("Pet"), example: { kind: "cat" } }],
    ["with read-only members", { schema: ref("Issue"), example: { id: 1 } }],
    ["of the schema", { schema: { ...schemas.Issue, example: { id: 1 } } }],
    ["that plain JSON Schema refuses", { schema: ref("Issue"), example: { other: 1 } }],
  ])("%s are accepted as inputs", (_what, media) => {
    const spec = oneOperation(
      "/x",
      "post",
      { requestBody: { content: { "application/json": media } } },
      { components: { schemas } },
    )

    const { examples, refused } = refusedExamples(spec, [importOne(spec)])

    expect(examples).toBe(1)
    expect(refused).toEqual([])
  })
})

describe("read-only members", () => {
  const properties = { id: { type: "integer", readOnly: true }, name: { type: "string" } }

  test.each<[string, Raw]>([
    ["of an object that is closed", { type: "object", properties, additionalProperties: false }],
    [
      "of one that is closed as a whole",
      { type: "object", properties, unevaluatedProperties: false },
    ],
    ["of an open one", { type: "object", properties }],
  ])("%s may be sent back, and need not be", (_what, schema) => {
    const required = { ...schema, required: ["id", "name"] }
    const { inputSchema } = importOne(
      oneOperation("/x", "post", {
        requestBody: { required: true, content: { "application/json": { schema: required } } },
      }),
    )
    const compiled = compileSchema(inputSchema)

    expect(compiled.check({ body: { id: 7, name: "n" } })).toBe(true)
    expect(compiled.check({ body: { name: "n" } })).toBe(true)
    expect(compiled.check({ body: { id: 7 } })).toBe(false)
  })

  test("are refused beside others that the document does not know", () => {
    const schema = { type: "object", properties, additionalProperties: false }
    const { inputSchema } = importOne(
      oneOperation("/x", "post", {
        requestBody: { required: true, content: { "application/json": { schema } } },
      }),
    )

    expect(compileSchema(inputSchema).check({ body: { id: 7, other: 1 } })).toBe(false)
  })
})

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}
