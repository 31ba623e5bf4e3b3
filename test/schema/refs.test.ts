import { Compile } from "typebox/schema"
import { describe, expect, test } from "vitest"
import { admitSchema, type AdmitOptions } from "../../src/schema/admit.ts"
import { compileValidator } from "../../src/schema/validator.ts"

const codes = (source: unknown, options?: AdmitOptions): string[] =>
  admitSchema(source, options).diagnostics.map(({ code, path }) => `${code} ${path}`)

const accepts = (source: unknown, value: unknown, options?: AdmitOptions): boolean => {
  const { schema, diagnostics } = admitSchema(source, options)
  expect(diagnostics).toEqual([])
  const answer = compileValidator(schema).check(value)
  expect(Compile(schema).Check(value), "TypeBox's own resolution").toBe(answer)
  return answer
}

describe("references inside a schema", () => {
  test.each([
    ["a pointer", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }],
    ["escapes", { $ref: "#/$defs/a~1b~0c", $defs: { "a/b~c": { type: "string" } } }],
    ["percent escapes", { $ref: "#/$defs/a%20%25b", $defs: { "a %b": { type: "string" } } }],
    ["an anchor", { $ref: "#x", $defs: { a: { $anchor: "x", type: "string" } } }],
    [
      "a dynamic anchor",
      { $dynamicRef: "#x", $defs: { a: { $dynamicAnchor: "x", type: "string" } } },
    ],
    ["an id", { $ref: "a", $defs: { a: { $id: "a", type: "string" } } }],
    [
      "a nested base",
      {
        $id: "http://example.com/root",
        $ref: "folder/a",
        $defs: {
          a: { $id: "http://example.com/folder/a", $ref: "b#/$defs/text" },
          b: { $id: "http://example.com/folder/b", $defs: { text: { type: "string" } } },
        },
      },
    ],
    ["a urn", { $id: "urn:example:a", $ref: "#/$defs/a", $defs: { a: { type: "string" } } }],
    [
      "an unknown keyword",
      { $ref: "#/components/schemas/A", components: { schemas: { A: { type: "string" } } } },
    ],
  ])("%s", (_, schema) => {
    expect(accepts(schema, "text")).toBe(true)
    expect(accepts(schema, 1)).toBe(false)
  })

  test("a name beside a urn takes the place of its last part", () => {
    const schema = {
      $id: "urn:example:root",
      $ref: "item",
      $defs: { item: { $id: "urn:example:item", type: "string" } },
    }
    expect(accepts(schema, 1)).toBe(false)
  })

  test("what an unknown keyword holds is lowered and linted once it is referred to", () => {
    const { schema, diagnostics } = admitSchema(
      {
        properties: { a: { $ref: "#/components/A" }, b: { $ref: "#/components/A" } },
        components: { A: { type: "string", nullable: true, minLength: "x" } },
      },
      { dialect: "openapi-3.0" },
    )
    expect(diagnostics.map(({ code }) => code)).toEqual(["malformed-keyword"])
    expect(schema["components"]).toEqual({ A: { type: ["string", "null"] } })
  })

  test("lowering does not lose the target of a pointer", () => {
    const { schema } = admitSchema(
      {
        properties: {
          a: { nullable: true, allOf: [{ type: "string" }] },
          b: { $ref: "#/properties/a/allOf/0" },
          c: { items: [{ type: "integer" }] },
          d: { $ref: "#/properties/c/items/0" },
        },
      },
      { dialect: "openapi-3.0" },
    )
    const properties = schema["properties"] as Record<string, unknown>
    expect(properties["b"]).toEqual({ $ref: "#/properties/a/anyOf/0/allOf/0" })
    expect(properties["d"]).toEqual({ $ref: "#/properties/c/prefixItems/0" })
    expect(compileValidator(schema).check({ b: null })).toBe(false)
    expect(compileValidator(schema).check({ d: "x" })).toBe(false)
  })

  test("two hosts with the same path are two resources", () => {
    const { schema } = admitSchema({
      properties: { a: { $ref: "http://one.example/x" }, b: { $ref: "http://two.example/x" } },
      $defs: {
        one: { $id: "http://one.example/x", type: "string" },
        two: { $id: "http://two.example/x", type: "number" },
      },
    })
    expect(compileValidator(schema).check({ a: "s", b: 1 })).toBe(true)
    expect(compileValidator(schema).check({ a: 1, b: "s" })).toBe(false)
  })

  test("references to true and false", () => {
    const $defs = { yes: true, no: false }
    expect(accepts({ properties: { a: { $ref: "#/$defs/yes" } }, $defs }, { a: 1 })).toBe(true)
    expect(accepts({ properties: { a: { $ref: "#/$defs/no" } }, $defs }, { a: 1 })).toBe(false)
  })
})

describe("unresolvable references", () => {
  test.each([
    "#/$defs/missing",
    "#/$defs/a/type",
    "#/$defs/a/const",
    "#missing",
    "other.json",
    "https://example.com/other.json#/a",
    "#/%E0%A4%A",
    "#/title/0",
    "#/$defs/list",
  ])("%s is reported and removed, its siblings stay", ($ref) => {
    const source = {
      title: "t",
      properties: { p: { $ref, maxLength: 2 } },
      $defs: { a: { type: "string", const: {} }, list: true },
    }
    const missing = $ref === "#/$defs/list" ? { ...source, $defs: {} } : source
    const { schema, diagnostics } = admitSchema(missing)
    expect(diagnostics).toMatchObject([{ code: "unresolved-ref", path: "/properties/p/$ref" }])
    expect(schema["properties"]).toEqual({ p: { maxLength: 2 } })
    expect(diagnostics[0]?.message).toContain($ref)
  })

  test("nothing is fetched, and the message says what to do", () => {
    const { diagnostics } = admitSchema({ $ref: "https://example.com/s.json" })
    expect(diagnostics[0]?.message).toContain('Pass the document in the option "documents"')
  })
})

describe("references without progress", () => {
  test.each([
    ["itself", { $ref: "#" }, 1],
    [
      "a circle",
      {
        $ref: "#/$defs/a",
        $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } },
      },
      1,
    ],
    ["through not", { not: { $ref: "#" } }, 1],
    ["a dynamic one", { $dynamicAnchor: "x", anyOf: [{ $dynamicRef: "#x" }] }, 1],
  ])("%s is broken and reported", (_, source, count) => {
    const { schema, diagnostics } = admitSchema(source)
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(count).fill("ref-loop"))
    expect(() => compileValidator(schema).check({})).not.toThrow()
  })

  test("recursion through a part of the value is fine", () => {
    expect(codes({ properties: { child: { $ref: "#" } }, items: { $ref: "#" } })).toEqual([])
  })

  test("two references to the same target are not a loop", () => {
    expect(
      codes({ allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: {} } }),
    ).toEqual([])
  })

  test("a chain as long as the schema neither overflows nor hangs", () => {
    const count = 12_000
    const $defs: Record<string, unknown> = {}
    for (let i = 0; i < count; i++)
      $defs[`d${i}`] = { properties: { n: { $ref: `#/$defs/d${i + 1}` } } }
    $defs[`d${count}`] = { type: "string" }
    const { schema, diagnostics } = admitSchema({ $ref: "#/$defs/d0", $defs })
    expect(diagnostics).toEqual([])
    const validator = compileValidator(schema)
    expect(validator.check({ n: { n: 1 } })).toBe(true)
    const loop: Record<string, unknown> = {}
    for (let i = 0; i < count; i++) loop[`d${i}`] = { $ref: `#/$defs/d${(i + 1) % count}` }
    expect(admitSchema({ $ref: "#/$defs/d0", $defs: loop }).diagnostics).toHaveLength(1)
  })
})

describe("references to other documents", () => {
  const documents = {
    "https://example.com/person.json": {
      type: "object",
      properties: { address: { $ref: "address.json" }, friend: { $ref: "#" } },
    },
    "https://example.com/address.json": {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: [{ type: "string" }],
    },
    "https://example.com/moved.json": { $id: "https://example.com/home.json", type: "null" },
    "https://example.com/yes.json": true,
    "https://example.com/no.json": false,
    "https://example.com/broken.json": { minimum: "3" },
    "https://example.com/text.json": "not a schema",
  }

  test("embed the documents with all they refer to, each in its own dialect", () => {
    const source = { $ref: "https://example.com/person.json" }
    const { schema, diagnostics } = admitSchema(source, { documents })
    expect(diagnostics).toEqual([])
    expect(Object.keys(schema["$defs"] as object)).toEqual([
      "https://example.com/person.json",
      "https://example.com/address.json",
    ])
    expect(accepts(source, { address: ["x"], friend: { address: [] } }, { documents })).toBe(true)
    expect(accepts(source, { friend: { address: [1] } }, { documents })).toBe(false)
    // What came out needs nobody any more.
    expect(admitSchema(structuredClone(schema)).schema).toEqual(schema)
  })

  test("use the URI that the document declares", () => {
    const { schema } = admitSchema(
      {
        properties: {
          a: { $ref: "https://example.com/moved.json#" },
          b: { $ref: "https://example.com/home.json" },
        },
      },
      { documents },
    )
    expect(schema["properties"]).toEqual({
      a: { $ref: "https://example.com/home.json" },
      b: { $ref: "https://example.com/home.json" },
    })
    expect(Object.keys(schema["$defs"] as object)).toEqual(["https://example.com/home.json"])
    expect(compileValidator(schema).check({ a: null, b: null })).toBe(true)
    expect(compileValidator(schema).check({ a: 1 })).toBe(false)
    const reverse = { $ref: "https://example.com/home.json", $defs: {} }
    expect(accepts(reverse, 1, { documents })).toBe(false)
  })

  test("a document that the schema already contains is not embedded again", () => {
    const { schema } = admitSchema(
      {
        $ref: "https://example.com/moved.json",
        $defs: { own: { $id: "https://example.com/home.json", type: "string" } },
      },
      { documents },
    )
    expect(Object.keys(schema["$defs"] as object)).toEqual(["own"])
    expect(compileValidator(schema).check("x")).toBe(true)
  })

  test("booleans are schemas too", () => {
    expect(accepts({ not: { $ref: "https://example.com/no.json" } }, 1, { documents })).toBe(true)
    expect(accepts({ $ref: "https://example.com/yes.json" }, 1, { documents })).toBe(true)
  })

  test("their names do not collide with definitions of the schema", () => {
    const { schema } = admitSchema(
      {
        $ref: "https://example.com/yes.json",
        $defs: { "https://example.com/yes.json": { type: "null" } },
      },
      { documents },
    )
    expect(Object.keys(schema["$defs"] as object)).toEqual([
      "https://example.com/yes.json",
      "https://example.com/yes.json (2)",
    ])
  })

  test("their own problems are reported with their URI", () => {
    expect(codes({ $ref: "https://example.com/broken.json" }, { documents })).toEqual([
      "malformed-keyword https://example.com/broken.json#/minimum",
    ])
    expect(codes({ $ref: "https://example.com/text.json" }, { documents })).toEqual([
      "unresolved-ref /$ref",
    ])
  })
})

describe("dynamic references", () => {
  const tree = {
    $id: "https://example.com/strict",
    $dynamicAnchor: "node",
    $ref: "tree",
    unevaluatedProperties: false,
    $defs: {
      tree: {
        $id: "tree",
        $dynamicAnchor: "node",
        type: "object",
        properties: { data: true, children: { type: "array", items: { $dynamicRef: "#node" } } },
      },
    },
  }

  test("are overridden by the outermost schema", () => {
    expect(accepts(tree, { children: [{ data: 1 }] })).toBe(true)
    expect(accepts(tree, { children: [{ daat: 1 }] })).toBe(false)
    const { schema } = admitSchema(tree)
    expect(compileValidator(schema).errors({ children: [{ daat: 1 }] })).toEqual([
      { path: "/children/0/daat", keyword: "unevaluatedProperties", message: "is not allowed" },
    ])
  })

  test("beside a $ref hold too", () => {
    const schema = {
      $ref: "#/$defs/a",
      $dynamicRef: "#b",
      allOf: [{ maxLength: 3 }],
      $defs: { a: { type: "string" }, b: { $dynamicAnchor: "b", minLength: 2 } },
    }
    expect(accepts(schema, "ab")).toBe(true)
    for (const bad of ["a", 1, "abcd"]) expect(accepts(schema, bad)).toBe(false)
  })
})
