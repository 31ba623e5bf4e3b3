// What an input may be, for every way in which a document can say it.
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { ImportNote } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { importOne, oneOperation, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const JSON_TYPE = "application/json"

interface ObjectSchema {
  readonly type?: unknown
  readonly properties: Readonly<Record<string, Raw>>
  readonly required?: readonly string[]
  readonly $defs?: Readonly<Record<string, Raw>>
}

function inputOf(spec: Raw, config: Raw = {}): ObjectSchema {
  return importOne(spec, config).inputSchema as unknown as ObjectSchema
}

function body(schema: unknown, more: Raw = {}, components: Raw = {}): Raw {
  const content = { [JSON_TYPE]: { schema } }
  return oneOperation(
    "/x",
    "post",
    { requestBody: { required: true, content, ...more } },
    { components },
  )
}

/** What becomes of the schema of a body. */
function converted(schema: unknown, version = "3.1.0", components: Raw = {}): Raw {
  return inputOf({ ...body(schema, {}, components), openapi: version }).properties["body"] as Raw
}

function fits(spec: Raw, input: unknown): boolean {
  return compileSchema(importOne(spec).inputSchema).check(input)
}

function isPlain(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function notesOf(spec: Raw): readonly ImportNote[] {
  return FromOpenAPI(spec, { namespace: "api" }).report.operations.flatMap(({ notes }) => notes)
}

describe("an input", () => {
  const spec = oneOperation("/x/{id}", "post", {
    parameters: [
      { name: "id", in: "path", required: true, schema: { type: "integer" }, description: "Which" },
      { name: "q", in: "query", required: true, schema: { type: "string" }, example: "pets" },
      { name: "old", in: "query", deprecated: true, schema: { type: "string" } },
      { name: "X-H", in: "header", schema: { type: "string", default: "h" } },
      { name: "c", in: "cookie", schema: { type: "boolean" } },
      { name: "filter", in: "query", content: { [JSON_TYPE]: { schema: { type: "object" } } } },
      { name: "bare", in: "query" },
    ],
    requestBody: {
      description: "What to make",
      required: true,
      content: { [JSON_TYPE]: { schema: { type: "object", properties: { a: {} } } } },
    },
  })

  test("has each parameter and the body, and nothing else", () => {
    expect(inputOf(spec)).toMatchObject({
      type: "object",
      properties: {
        id: { type: "integer", description: "Which" },
        q: { type: "string", examples: ["pets"] },
        old: { type: "string", deprecated: true },
        "X-H": { type: "string", default: "h" },
        c: { type: "boolean" },
        filter: { type: "object" },
        bare: {},
        body: { type: "object", description: "What to make" },
      },
      required: ["id", "q", "body"],
      additionalProperties: false,
    })
    expect(fits(spec, { id: 1, q: "a", body: {} })).toBe(true)
    expect(fits(spec, { id: 1, q: "a", body: {}, other: 1 })).toBe(false)
  })

  test("is an object also where there is nothing to give", () => {
    const schema = inputOf(oneOperation("/x", "get", {}))

    expect(schema).toMatchObject({ type: "object", properties: {} })
    expect(fits(oneOperation("/x", "get", {}), {})).toBe(true)
  })

  test.each<[string, unknown]>([
    ["a list", { type: "array", items: { type: "string" } }],
    ["a text", { type: "string" }],
    ["a union", { oneOf: [{ type: "object" }, { type: "array" }] }],
    ["free", { type: "object", additionalProperties: { type: "integer" } }],
    ["anything", {}],
    ["a reference", { $ref: "#/components/schemas/A" }],
  ])("is an object also where the body is %s", (_what, schema) => {
    const input = inputOf(body(schema, {}, { schemas: { A: { type: "array" } } }))

    expect(input.type).toBe("object")
    expect(Object.keys(input.properties)).toEqual(["body"])
    expect(input.required).toEqual(["body"])
  })

  test("needs a body only where the document does", () => {
    const optional = oneOperation("/x", "post", {
      requestBody: { content: { [JSON_TYPE]: { schema: { type: "object", required: ["a"] } } } },
    })

    expect(fits(optional, {})).toBe(true)
    expect(fits(optional, { body: { a: 1 } })).toBe(true)
    expect(fits(optional, { body: {} })).toBe(false)
  })

  test("has a text for a variable that nobody declares, and the report says so", () => {
    const undeclared = oneOperation("/v/{api-version}/x", "get", {})

    expect(inputOf(undeclared)).toMatchObject({
      properties: { "api-version": { type: "string" } },
      required: ["api-version"],
    })
    expect(notesOf(undeclared).map(({ message }) => message)).toEqual([
      expect.stringContaining("{api-version}"),
    ])
  })

  test("needs a path parameter also where the document forgets to say so", () => {
    const forgotten = oneOperation("/x/{id}", "get", {
      parameters: [{ name: "id", in: "path", schema: {} }],
    })

    expect(inputOf(forgotten).required).toEqual(["id"])
  })

  test("has one alternative for each content type that differs", () => {
    const different = oneOperation("/x", "post", {
      requestBody: {
        content: {
          [JSON_TYPE]: { schema: { type: "object", required: ["a"] } },
          "application/x-www-form-urlencoded": { schema: { type: "object", required: ["b"] } },
        },
      },
    })
    const same = oneOperation("/x", "post", {
      requestBody: {
        content: {
          [JSON_TYPE]: { schema: { $ref: "#/components/schemas/A" } },
          "application/xml": { schema: { $ref: "#/components/schemas/A" } },
        },
      },
    })

    expect(fits(different, { body: { a: 1 } })).toBe(true)
    expect(fits(different, { body: { b: 1 } })).toBe(true)
    expect(fits(different, { body: { c: 1 } })).toBe(false)
    expect(inputOf({ ...same, components: { schemas: { A: {} } } }).properties["body"]).toEqual({
      $ref: "#/$defs/A",
    })
  })

  test("takes bytes in every form where a body is binary", () => {
    const binary = oneOperation("/x", "post", {
      requestBody: {
        content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
      },
    })
    for (const bytes of [
      new Uint8Array(1),
      new ArrayBuffer(1),
      new Blob(["x"]),
      new ReadableStream(),
      "text",
    ]) {
      expect(fits(binary, { body: bytes })).toBe(true)
    }
  })
})

describe("of Swagger 2.0, an input", () => {
  const spec = swagger({
    "/x": {
      post: {
        operationId: "op",
        parameters: [
          {
            name: "ids",
            in: "query",
            type: "array",
            items: { type: "integer" },
            collectionFormat: "csv",
            required: true,
          },
          { name: "n", in: "query", type: "number", minimum: 1, exclusiveMinimum: true },
          { name: "anything", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } },
        ],
        responses: {},
      },
    },
  })
  const definitions = {
    Pet: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string", "x-nullable": true }, id: { readOnly: true } },
    },
  }

  test("has parameters without the words that are no schema, and the body under `body`", () => {
    const input = inputOf({ ...spec, definitions })

    expect(input).toMatchObject({
      properties: {
        ids: { type: "array", items: { type: "integer" } },
        n: { type: "number", exclusiveMinimum: 1 },
        body: { $ref: "#/$defs/Pet" },
      },
      required: ["ids", "body"],
      $defs: { Pet: { properties: { name: { type: ["string", "null"] } } } },
    })
    for (const word of ["in", "name", "collectionFormat", "required"]) {
      expect(input.properties["ids"]).not.toHaveProperty(word)
    }
    expect(input.$defs?.["Pet"]?.["properties"]).not.toHaveProperty("id")
  })

  test("has a form under `body`, with its files", () => {
    const form = swagger({
      "/x": {
        post: {
          operationId: "op",
          parameters: [
            { name: "file", in: "formData", type: "file", required: true },
            { name: "n", in: "formData", type: "integer" },
          ],
          responses: {},
        },
      },
    })

    expect(inputOf(form)).toMatchObject({
      properties: {
        body: {
          type: "object",
          properties: { file: { format: "binary" }, n: { type: "integer" } },
          required: ["file"],
        },
      },
      required: ["body"],
    })
    expect(fits(form, { body: { file: new Uint8Array(1), n: 1 } })).toBe(true)
    expect(fits(form, { body: { n: 1 } })).toBe(false)
  })
})

describe("a schema becomes JSON Schema 2020-12", () => {
  test.each<[string, string, Raw, Raw]>([
    ["nullable", "3.0.3", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["nullable in 3.1", "3.1.0", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["nullable: false", "3.0.3", { type: "string", nullable: false }, { type: "string" }],
    [
      "nullable beside enum",
      "3.0.3",
      { type: "string", enum: ["a"], nullable: true },
      { type: ["string", "null"], enum: ["a", null] },
    ],
    [
      "nullable beside allOf",
      "3.0.3",
      { allOf: [{ type: "object" }], nullable: true, description: "d" },
      { anyOf: [{ allOf: [{ type: "object" }] }, { type: "null" }], description: "d" },
    ],
    ["x-nullable", "3.0.3", { type: "integer", "x-nullable": true }, { type: ["integer", "null"] }],
    [
      "exclusive bounds",
      "3.0.3",
      { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
      { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 5 },
    ],
    [
      "exclusive bounds that are not",
      "3.0.3",
      { type: "number", minimum: 1, exclusiveMinimum: false },
      { type: "number", minimum: 1 },
    ],
    [
      "exclusive bounds of today",
      "3.1.0",
      { type: "number", exclusiveMinimum: 1 },
      { type: "number", exclusiveMinimum: 1 },
    ],
    [
      "a tuple of old",
      "3.0.3",
      { type: "array", items: [{ type: "string" }, { type: "integer" }], additionalItems: false },
      { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false },
    ],
    [
      "a tuple of today",
      "3.1.0",
      { type: "array", prefixItems: [{ type: "string" }], items: false },
      { type: "array", prefixItems: [{ type: "string" }], items: false },
    ],
    ["type: file", "3.0.3", { type: "file" }, { format: "binary" }],
    [
      "format: byte",
      "3.0.3",
      { type: "string", format: "byte" },
      { type: "string", format: "byte", contentEncoding: "base64" },
    ],
    ["example", "3.0.3", { type: "string", example: "a" }, { type: "string", examples: ["a"] }],
    [
      "discriminator",
      "3.0.3",
      { oneOf: [{ type: "object" }], discriminator: { propertyName: "kind" } },
      { anyOf: [{ type: "object" }], discriminator: { propertyName: "kind" } },
    ],
    ["several types", "3.1.0", { type: ["string", "null"] }, { type: ["string", "null"] }],
    ["const", "3.1.0", { const: { a: 1 } }, { const: { a: 1 } }],
    ["a bound beyond 2^53", "3.0.3", { maximum: 1e19 }, { maximum: 1e19 }],
    [
      "if, then, else",
      "3.1.0",
      { if: { type: "string" }, then: { minLength: 1 }, else: false },
      { if: { type: "string" }, then: { minLength: 1 }, else: false },
    ],
  ])("%s", (_what, version, schema, expected) => {
    expect(converted(schema, version)).toEqual(expected)
  })

  test("nullable beside a reference lets null in", () => {
    const components = { schemas: { A: { type: "object" } } }
    const schema = { $ref: "#/components/schemas/A", nullable: true }

    for (const version of ["3.0.3", "3.1.0"]) {
      const spec = { ...body(schema, {}, components), openapi: version }
      expect(fits(spec, { body: null }), version).toBe(true)
      expect(fits(spec, { body: {} }), version).toBe(true)
      expect(fits(spec, { body: 1 }), version).toBe(false)
    }
  })

  test("what stands beside a reference counts since 3.1, and does not leak into its target", () => {
    const components = { schemas: { A: { type: "object", description: "target" } } }
    const schema = { $ref: "#/components/schemas/A", description: "here", required: ["a"] }
    const before = inputOf({ ...body(schema, {}, components), openapi: "3.0.3" })
    const since = inputOf(body(schema, {}, components))

    expect(before.properties["body"]).toEqual({ $ref: "#/$defs/A", description: "here" })
    expect(since.properties["body"]).toEqual({
      $ref: "#/$defs/A",
      description: "here",
      required: ["a"],
    })
    expect(before.$defs).toEqual({ A: { type: "object", description: "target" } })
    expect(since.$defs).toEqual(before.$defs)
  })

  test.each<[string, Raw, string]>([
    ["a pattern with a flag", { type: "string", pattern: "/^[a-z]+$/i" }, 'flags, "i"'],
    ["a pattern that is none", { type: "string", pattern: "(" }, "Pattern"],
    ["a pattern that may hang", { type: "string", pattern: "^(a|a)*$" }, "Pattern"],
    ["a type that does not exist", { type: "any" }, '"type"'],
    ["a limit that is no number", { type: "string", maxLength: "5" }, '"maxLength"'],
    ["an enum that is empty", { type: "string", enum: [] }, '"enum"'],
    ["a reference into nothing", { $ref: "#/components/schemas/Missing" }, "cannot be followed"],
    ["a schema that is a number", { properties: { a: 5 } }, "must be an object"],
    ["a title that is none", { title: 5 }, '"title"'],
    ["a format that is none", { format: 5 }, '"format"'],
    ["required that is no list", { required: "a" }, '"required"'],
    ["required with other things in it", { required: [5] }, '"required"'],
    ["properties that are a list", { properties: [] }, '"properties"'],
    ["items that are a text", { items: "string" }, '"items"'],
    ["not, without a schema", { not: 5 }, '"not"'],
    ["oneOf without any", { oneOf: [] }, '"oneOf"'],
    ["allOf that is no list", { allOf: {} }, '"allOf"'],
    ["dependentSchemas without schemas", { dependentSchemas: 5 }, '"dependentSchemas"'],
    ["dependentRequired without names", { dependentRequired: { a: [5] } }, '"dependentRequired"'],
    ["patternProperties without schemas", { patternProperties: 5 }, '"patternProperties"'],
    ["a pattern of properties that is none", { patternProperties: { "(": {} } }, "Pattern"],
    ["a bound that is a text", { minimum: "1" }, '"minimum"'],
    ["a step of nothing", { multipleOf: 0 }, '"multipleOf"'],
    ["an exclusive bound that is a text", { exclusiveMaximum: "1" }, '"exclusiveMaximum"'],
    ["a pattern that is a number", { pattern: 5 }, '"pattern"'],
    ["types that do not exist", { type: ["string", "any"] }, '"type"'],
    ["no types", { type: [] }, '"type"'],
  ])("%s is widened, and the report says where and why", (_what, schema, words) => {
    const spec = body(schema)
    const [note, ...more] = notesOf(spec)

    expect(more).toEqual([])
    expect(note?.message).toContain(words)
    expect(note?.pointer).toMatch(
      /^\/paths\/~1x\/post\/requestBody\/content\/application~1json\/schema/,
    )
    expect(fits(spec, { body: isPlain(schema["properties"]) ? { a: 1 } : "text" })).toBe(true)
  })
})

describe("a schema of which a part is widened refuses nothing that the document allows", () => {
  const bad = { type: "string", pattern: "(" }
  const lost = { $ref: "#/nowhere" }
  const bytes = { type: "string", format: "binary" }

  test.each<[string, Raw, unknown]>([
    ["not, of a lost reference", { not: lost }, "x"],
    ["not, of a lost pattern", { not: bad }, "x"],
    ["oneOf, of a lost reference", { oneOf: [lost, { type: "string" }] }, "x"],
    ["oneOf, of a lost pattern", { oneOf: [bad, { type: "string", maxLength: 3 }] }, "x"],
    ["oneOf beside anyOf", { anyOf: [{ minLength: 1 }], oneOf: [bad, { type: "string" }] }, "x"],
    ["oneOf, of bytes or a list of them", { oneOf: [bytes, { items: bytes, type: "array" }] }, []],
    ["if, of a lost pattern", { if: bad, then: false, else: false }, "x"],
    ["contains, of a lost pattern", { contains: bad, maxContains: 1 }, ["a", "b"]],
    ["unevaluatedProperties", { allOf: [lost], unevaluatedProperties: false }, { a: 1 }],
    [
      "additionalProperties after a lost pattern of them",
      { patternProperties: { "(": {} }, additionalProperties: false },
      { a: 1 },
    ],
  ])("%s", (_what, schema, value) => {
    expect(fits(body(schema), { body: value })).toBe(true)
  })

  test("and one of which none is refuses what it did", () => {
    const oneOf = [{ type: "string" }, { minLength: 1 }]

    expect(converted({ oneOf, not: { const: 1 } })).toEqual({ anyOf: oneOf, not: { const: 1 } })
    expect(fits(body({ oneOf }), { body: "" })).toBe(true)
    expect(fits(body({ not: { const: 1 } }), { body: 1 })).toBe(false)
  })
})

describe("properties that are only read", () => {
  const components = {
    schemas: {
      Id: { type: "string", readOnly: true },
      Base: { type: "object", properties: { createdAt: { type: "string", readOnly: true } } },
      Item: {
        type: "object",
        properties: { sku: { type: "string" }, total: { type: "integer", readOnly: true } },
        required: ["sku", "total"],
      },
      Order: {
        allOf: [
          { $ref: "#/components/schemas/Base" },
          {
            type: "object",
            properties: {
              id: { $ref: "#/components/schemas/Id" },
              items: { type: "array", items: { $ref: "#/components/schemas/Item" } },
              secret: { type: "string", writeOnly: true },
            },
            required: ["id", "createdAt", "items", "secret"],
          },
        ],
      },
    },
  }
  const content = { [JSON_TYPE]: { schema: { $ref: "#/components/schemas/Order" } } }
  const spec = oneOperation(
    "/x",
    "post",
    { requestBody: { required: true, content }, responses: { 200: { description: "", content } } },
    { components },
  )

  test.each(["3.0.3", "3.1.0", "3.2.0"])("are no inputs, at any depth, in %s", (openapi) => {
    const versioned = { ...spec, openapi }
    const sku = { sku: "a" }

    expect(fits(versioned, { body: { items: [sku], secret: "s" } })).toBe(true)
    expect(fits(versioned, { body: { items: [sku] } })).toBe(false)
    const text = JSON.stringify(inputOf(versioned))
    for (const name of ["createdAt", '"id"', "total"]) expect(text).not.toContain(name)
  })

  test.each(["3.0.3", "3.1.0", "3.2.0"])(
    "are outputs, and write-only ones are not, in %s",
    (openapi) => {
      const { outputSchema } = importOne({ ...spec, openapi })
      const { check } = { check: (value: unknown) => compileSchema(outputSchema).check(value) }

      expect(JSON.stringify(outputSchema)).not.toContain("secret")
      expect(check({ id: "1", createdAt: "now", items: [{ sku: "a", total: 1 }] })).toBe(true)
      expect(check({ id: "1", items: [] })).toBe(false)
      expect(check({ id: "1", createdAt: "now", items: [{ sku: "a" }] })).toBe(false)
    },
  )

  test("the document itself stays as it was", () => {
    const before = structuredClone(spec)
    const operation = importOne(spec)
    void [operation.inputSchema, operation.outputSchema, operation.errorSchemas]

    expect(spec).toEqual(before)
  })
})

describe("definitions", () => {
  const components = {
    schemas: {
      "Pet.v1": { type: "object", properties: { owner: { $ref: "#/components/schemas/Owner" } } },
      Owner: {
        type: "object",
        properties: { pets: { items: { $ref: "#/components/schemas/Pet.v1" } } },
      },
      Unused: { type: "string" },
      "a/b~c d": { type: "integer" },
    },
  }

  test("are those that are used, under their own names, and closed", () => {
    const spec = body({ $ref: "#/components/schemas/Pet.v1" }, {}, components)

    expect(inputOf(spec).$defs).toEqual({
      "Pet.v1": { type: "object", properties: { owner: { $ref: "#/$defs/Owner" } } },
      Owner: { type: "object", properties: { pets: { items: { $ref: "#/$defs/Pet.v1" } } } },
    })
    expect(fits(spec, { body: { owner: { pets: [{ owner: {} }] } } })).toBe(true)
    expect(fits(spec, { body: { owner: { pets: [{ owner: 1 }] } } })).toBe(false)
  })

  test.each([
    ["escaped names", "#/components/schemas/a~1b~0c d"],
    ["names in percent", "#/components/schemas/a~1b~0c%20d"],
    ["the middle of a schema", "#/components/schemas/Pet.v1/properties/owner"],
    ["what stands in paths", "#/paths/~1x/post/requestBody/content/application~1json/example"],
  ])("are found by %s", (_what, $ref) => {
    const spec = oneOperation(
      "/x",
      "post",
      {
        requestBody: {
          content: { [JSON_TYPE]: { schema: { properties: { a: { $ref } } }, example: {} } },
        },
      },
      { components },
    )
    const { $defs = {} } = inputOf(spec)
    const name = /^#\/\$defs\/(.+)$/.exec(
      String((inputOf(spec).properties["body"] as { properties: { a: Raw } }).properties.a["$ref"]),
    )?.[1]

    expect($defs).toHaveProperty([name ?? ""])
    expect(notesOf(spec)).toEqual([])
  })

  test("are found by $anchor and $id", () => {
    const schemas = {
      A: { $anchor: "here", type: "integer" },
      B: { $id: "https://schemas.test/b", type: "boolean" },
    }
    const properties = { a: { $ref: "#here" }, b: { $ref: "https://schemas.test/b" } }
    const spec = body({ properties }, {}, { schemas })

    expect(notesOf(spec)).toEqual([])
    expect(fits(spec, { body: { a: 1, b: true } })).toBe(true)
    expect(fits(spec, { body: { a: "x" } })).toBe(false)
    expect(fits(spec, { body: { b: "x" } })).toBe(false)
  })

  test("are not looked for in examples, defaults, enums and extensions", () => {
    const data = { $ref: "#/nowhere" }
    const spec = body({
      type: "object",
      example: data,
      default: data,
      enum: [data],
      const: data,
      "x-more": data,
    })

    expect(notesOf(spec)).toEqual([])
    expect(fits(spec, { body: data })).toBe(true)
    expect(fits(spec, { body: {} })).toBe(false)
  })

  test("are shared by all operations of an import, not copied", () => {
    const schema = { $ref: "#/components/schemas/Pet.v1" }
    const content = { [JSON_TYPE]: { schema } }
    const operation = { requestBody: { content }, responses: { 200: { description: "", content } } }
    const operations = FromOpenAPI(
      {
        openapi: "3.1.0",
        paths: { "/a": { post: operation, put: operation }, "/b": { post: operation } },
        components,
      },
      { namespace: "api" },
    )
    const defs = operations.map(({ inputSchema }) => (inputSchema as unknown as ObjectSchema).$defs)

    expect(operations).toHaveLength(3)
    expect(new Set(defs.map((one) => one?.["Pet.v1"])).size).toBe(1)
    expect(new Set(defs).size).toBe(1)
  })
})

describe("a pattern written between slashes is read without them", () => {
  test.each([
    ["/^[a-z]+$/", "abc", "ABC"],
    ["/^[a-z]+$/u", "abc", "ABC"],
    ["/^a\\/b$/g", "a/b", "/a/b/"],
    ["/^[^/]+$/", "ab", "a/b"],
    ["/v1/", "v1", "v2"],
    // No literals: the slashes belong to the text.
    ["/a/b/", "/a/b/", "a/b"],
    ["^/a/$", "/a/", "a"],
    ["//", "a//b", "a/b"],
    ["/", "a/b", "ab"],
  ])("%s", (pattern, good, bad) => {
    const spec = body({ type: "string", pattern })

    expect(notesOf(spec)).toEqual([])
    expect([good, bad].map((text) => fits(spec, { body: text }))).toEqual([true, false])
  })

  test("as a name of properties, too", () => {
    const spec = body({ patternProperties: { "/^x-/": { type: "integer" } } })

    expect(fits(spec, { body: { "x-a": 1, b: "b" } })).toBe(true)
    expect(fits(spec, { body: { "x-a": "1" } })).toBe(false)
  })
})

describe("alternatives of an input", () => {
  const dog = {
    type: "object",
    properties: { kind: { type: "string" }, bark: { type: "integer" } },
    required: ["kind", "bark"],
  }
  const cat = {
    type: "object",
    properties: { kind: { type: "string" }, name: { type: "string" } },
    required: ["kind"],
  }
  const members = [{ $ref: "#/components/schemas/Dog" }, { $ref: "#/components/schemas/Cat" }]

  function problems(
    schema: unknown,
    value: unknown,
    schemas: Raw = { Dog: dog, Cat: cat },
  ): string[] {
    const { inputSchema } = importOne(body(schema, {}, { schemas }))
    return compileSchema(inputSchema)
      .errors({ body: value })
      .map(({ path, message }) => `${path} ${message}`)
  }

  test("may match several of them", () => {
    const schema = { oneOf: [{ type: "integer" }, { type: "number" }, { minimum: 0 }] }

    expect(problems(schema, 5)).toEqual([])
    expect(problems({ oneOf: members }, { kind: "x", bark: 1, name: "a" })).toEqual([])
    expect(problems({ oneOf: members }, { bark: "loud" })).not.toEqual([])
  })

  test.each<[string, Raw, string, string]>([
    ["by the names of schemas", {}, "Dog", "Cat"],
    [
      "by a mapping to references",
      { mapping: { d: "#/components/schemas/Dog", c: "#/components/schemas/Cat" } },
      "d",
      "c",
    ],
    ["by a mapping to names", { mapping: { d: "Dog", c: "Cat" } }, "d", "c"],
  ])("are told apart by a discriminator, %s", (_name, more, isDog, isCat) => {
    for (const keyword of ["oneOf", "anyOf"]) {
      const schema = { [keyword]: members, discriminator: { propertyName: "kind", ...more } }

      expect(problems(schema, { kind: isDog, bark: 1 })).toEqual([])
      expect(problems(schema, { kind: isCat, name: "a", bark: "x" })).toEqual([])
      expect(problems(schema, { kind: isDog, name: "a" })).toEqual(["/body/bark is required"])
      expect(problems(schema, { kind: isCat, name: 5 })).toEqual([
        expect.stringContaining("/body/name") as unknown,
      ])
      // A value that selects none is checked by all of them.
      expect(problems(schema, { kind: "bird" })).toEqual([])
      expect(problems(schema, { kind: "bird", name: 5 })).not.toEqual([])
    }
  })

  test("keep the values that they declare themselves", () => {
    const schemas = {
      Dog: { ...dog, properties: { ...dog.properties, kind: { const: "woof" } } },
      Cat: { ...cat, properties: { ...cat.properties, kind: { enum: ["meow", "purr"] } } },
    }
    const schema = { oneOf: members, discriminator: { propertyName: "kind" } }

    expect(problems(schema, { kind: "purr" }, schemas)).toEqual([])
    expect(problems(schema, { kind: "woof" }, schemas)).toEqual(["/body/bark is required"])
  })

  test("leave out the discriminator where a document does not require it", () => {
    const schemas = { Dog: { properties: { bark: {} } }, Cat: { properties: { name: {} } } }
    const schema = { oneOf: members, discriminator: { propertyName: "kind" } }

    expect(problems(schema, { name: "a" }, schemas)).toEqual([])
  })

  test("stay exclusive in outputs", () => {
    const schema = { oneOf: [{ type: "integer" }, { type: "number" }] }
    const content = { "application/json": { schema: { $ref: "#/components/schemas/N" } } }
    const spec = oneOperation(
      "/x",
      "post",
      { requestBody: { content }, responses: { 200: { description: "", content } } },
      { components: { schemas: { N: schema } } },
    )
    const { inputSchema, outputSchema } = importOne(spec)

    expect(compileSchema(inputSchema).check({ body: 5 })).toBe(true)
    expect(compileSchema(outputSchema).check(5)).toBe(false)
  })
})

describe("a parent with a discriminator", () => {
  const pet = {
    type: "object",
    properties: { kind: { type: "string" } },
    required: ["kind"],
    discriminator: { propertyName: "kind" },
  }
  const child = (own: Raw, parent = "Pet"): Raw => ({
    allOf: [{ $ref: `#/components/schemas/${parent}` }, { type: "object", ...own }],
  })
  const schemas = {
    Pet: pet,
    Dog: child({ properties: { bark: { type: "integer" } }, required: ["bark"] }),
    Puppy: child({ properties: { age: { type: "integer" } }, required: ["age"] }, "Dog"),
    Cat: child({ properties: { name: { type: "string" } } }),
    Owner: {
      type: "object",
      properties: { pets: { type: "array", items: { $ref: "#/components/schemas/Pet" } } },
    },
  }
  const errorsOf = (schema: unknown, value: unknown): string[] => {
    const { inputSchema } = importOne(body(schema, {}, { schemas }))
    return compileSchema(inputSchema)
      .errors({ body: value })
      .map(({ path, message }) => `${path} ${message}`)
  }

  test("stands for its subtypes, and theirs", () => {
    const ref = { $ref: "#/components/schemas/Pet", description: "A pet" }
    const { properties, $defs } = inputOf(body(ref, {}, { schemas }))

    expect(properties["body"]).toMatchObject({
      description: "A pet",
      anyOf: [
        ...["Dog", "Cat", "Puppy"].map((name) => ({
          $ref: `#/$defs/${name}`,
          properties: { kind: { enum: [name] } },
        })),
        {
          $ref: "#/$defs/Pet",
          properties: { kind: { not: { enum: ["Dog", "Cat", "Puppy"] } } },
        },
      ],
    })
    expect(Object.keys($defs ?? {}).toSorted()).toEqual(["Cat", "Dog", "Pet", "Puppy"])
    expect(errorsOf(ref, { kind: "Dog", bark: 1 })).toEqual([])
    expect(errorsOf(ref, { kind: "Pet" })).toEqual([])
    expect(errorsOf(ref, { kind: "Dog" })).toEqual(["/body/bark is required"])
    expect(errorsOf(ref, { kind: "Cat", name: 5 }).join()).toContain("/body/name")
    expect(errorsOf(ref, { kind: "Puppy", bark: 1 })).toEqual(["/body/age is required"])
  })

  test("does so inside of other schemas, and not where it is extended", () => {
    const owner = { $ref: "#/components/schemas/Owner" }

    expect(errorsOf(owner, { pets: [{ kind: "Cat" }, { kind: "Dog", bark: 1 }] })).toEqual([])
    expect(errorsOf(owner, { pets: [{ kind: "Dog" }] })).toEqual(["/body/pets/0/bark is required"])
    expect(errorsOf({ $ref: "#/components/schemas/Cat" }, { kind: "anything" })).toEqual([])
    expect(notesOf(body(owner, {}, { schemas }))).toEqual([])
  })

  test("stands for itself alone where it has too many subtypes", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`Sub${at}`, child({})]))
    const spec = body({ $ref: "#/components/schemas/Pet" }, {}, { schemas: { Pet: pet, ...many } })

    expect(inputOf(spec).properties["body"]).toMatchObject({ $ref: "#/$defs/Pet" })
  })
})
