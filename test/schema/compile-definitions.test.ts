import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { adoptSchema } from "../../src/schema/trusted-schemas.ts"
import { hasManyDefinitions } from "../../src/schema/compile-definitions.ts"
import { compileSchema } from "../../src/schema/compiled.ts"
import type { JsonSchema } from "../../src/schema/json.ts"
import { runs } from "../support/nightly.ts"

const COUNT = 30

/**
 * A schema of thirty definitions, as code that has admitted it already passes it; `read` is called with each
 * definition that is asked for.
 */
function large(
  root: JsonSchema,
  definitions: Readonly<Record<string, unknown>>,
  read: (name: string) => void = () => {},
): JsonSchema {
  const filler = Array.from({ length: COUNT }, (_, index) => [`filler${index}`, { type: "string" }])
  const all = { ...Object.fromEntries(filler), ...definitions }
  const schema = { ...root }
  Object.defineProperty(schema, "$defs", {
    enumerable: true,
    get() {
      for (const name of Object.keys(all)) read(name)
      return all
    },
  })
  adoptSchema(schema, {
    hasMoreThan: (count) => Object.keys(all).length > count,
    get(name) {
      read(name)
      return Object.hasOwn(all, name) ? all[name] : undefined
    },
  })
  return schema
}

describe("a closed schema with many definitions", () => {
  const tree = large(
    { $ref: "#/$defs/tree" },
    {
      tree: {
        type: "object",
        properties: {
          name: { $ref: "#/$defs/name" },
          children: { type: "array", items: { $ref: "#/$defs/tree" } },
        },
        required: ["name"],
      },
      name: { type: "string", minLength: 1 },
    },
  )

  test("is one that is compiled by its parts", () => {
    expect(hasManyDefinitions(tree)).toBe(true)
    expect(hasManyDefinitions({ $defs: { a: true } })).toBe(false)
    expect(hasManyDefinitions({})).toBe(false)
  })

  test.each([
    [{ name: "a" }, true],
    [{ name: "a", children: [{ name: "b", children: [] }] }, true],
    [{ name: "" }, false],
    [{}, false],
    [{ name: undefined }, false],
    [{ name: "a", children: [{ name: "b", children: [{}] }] }, false],
    [[], false],
    [null, false],
    [undefined, false],
  ])("checks %j", (value, fits) => {
    const compiled = compileSchema(tree)

    expect(compiled.check(value)).toBe(fits)
    expect(compiled.errors(value).length > 0).toBe(!fits)
  })

  test("names the place of an error, also behind references", () => {
    const [issue] = compileSchema(tree).errors({ name: "a", children: [{ name: 1 }] })

    expect(issue?.path).toBe("/children/0/name")
  })

  test("refuses data that is too deep instead of overflowing", () => {
    let value: unknown = { name: "leaf" }
    for (let depth = 0; depth < 200_000; depth++) value = { name: "a", children: [value] }

    expect(compileSchema(tree).check(value)).toBe(false)
  })

  test("takes keywords beside a reference along", () => {
    const schema = large(
      { type: "object", properties: { a: { $ref: "#/$defs/name", maxLength: 2 } } },
      { name: { type: "string", minLength: 1 } },
    )

    expect(compileSchema(schema).check({ a: "ab" })).toBe(true)
    expect(compileSchema(schema).check({ a: "abc" })).toBe(false)
    expect(compileSchema(schema).check({ a: "" })).toBe(false)
  })

  test("knows what a referenced schema has looked at", () => {
    const schema = large(
      { $ref: "#/$defs/base", properties: { b: true }, unevaluatedProperties: false },
      { base: { type: "object", properties: { a: true } } },
    )

    expect(compileSchema(schema).check({ a: 1, b: 2 })).toBe(true)
    expect(compileSchema(schema).check({ a: 1, c: 2 })).toBe(false)
  })

  test("accepts anything where a definition is true, and nothing where it is false", () => {
    const schema = large(
      { type: "object", properties: { a: { $ref: "#/$defs/any" }, b: { $ref: "#/$defs/none" } } },
      { any: true, none: false },
    )

    expect(compileSchema(schema).check({ a: [] })).toBe(true)
    expect(compileSchema(schema).check({ b: 1 })).toBe(false)
  })

  test("distinguishes own keys from inherited ones", () => {
    const schema = large(
      {
        type: "object",
        properties: { toString: { $ref: "#/$defs/name" }, __proto__: {} },
        required: ["toString"],
      },
      { name: { type: "string" } },
    )

    expect(compileSchema(schema).check({ toString: "a" })).toBe(true)
    expect(compileSchema(schema).check({})).toBe(false)
  })

  test("reads only the definitions that the first values reach", () => {
    const read = new Set<string>()
    const node = (name: string): object => ({
      type: "object",
      properties: {
        next: { anyOf: [{ $ref: `#/$defs/${name}` }, { type: "null" }] },
        kind: { default: "x" },
      },
      required: ["next"],
    })
    const definitions = { a: node("b"), b: node("c"), c: node("a") }
    const compiled = compileSchema(
      large({ $ref: "#/$defs/a" }, definitions, (name) => read.add(name)),
    )
    const passes = compiled.passes("keep")

    expect(passes({ next: null, kind: "y" })).toBe(true)
    expect(passes({ next: null })).toBe(false)
    expect(compiled.normalizer("keep").normalize({ next: null }).value).toEqual({
      next: null,
      kind: "x",
    })
    expect(compiled.errors({}).map(({ path }) => path)).toEqual(["/next"])
    expect(read).not.toContain("c")
    expect(passes({ next: { next: { next: 1 } } })).toBe(false)
    expect(read).toContain("c")
    expect(read).not.toContain("filler0")
  })

  test("agrees with the schema compiled at once", () => {
    const names = ["a", "b", "c"]
    const reference = fc.constantFrom(...names).map((name) => ({ $ref: `#/$defs/${name}` }))
    const leaf = fc.constantFrom<JsonSchema>(
      { type: "string" },
      { type: "integer", minimum: 1 },
      { type: "boolean" },
      { enum: ["x", 1, null] },
      { type: "string", default: "d" },
    )
    const inner = fc.oneof(leaf, reference)
    const definition = fc.oneof(
      leaf,
      fc.record({
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("p", "q"), inner),
        required: fc.subarray(["p", "q"]),
        additionalProperties: fc.oneof(fc.boolean(), inner),
      }),
      fc.record({ type: fc.constant("array"), items: inner, maxItems: fc.constantFrom(1, 2) }),
      fc.record({ anyOf: fc.array(leaf, { minLength: 1, maxLength: 2 }) }),
      fc.record({ oneOf: fc.array(leaf, { minLength: 1, maxLength: 2 }), not: leaf }),
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>("x", "", 0, 1, true, null),
        fc.dictionary(fc.constantFrom("p", "q", "r"), tie("any")),
        fc.array(tie("any"), { maxLength: 3 }),
      ),
    })).any

    fc.assert(
      fc.property(
        fc.tuple(definition, definition, definition),
        inner,
        fc.array(value, { minLength: 1, maxLength: 8 }),
        ([a, b, c], root, values) => {
          const byParts = compileSchema(large(root, { a, b, c }))
          const atOnce = compileSchema({ ...root, $defs: { a, b, c } })
          for (const one of values) expect(byParts.check(one)).toBe(atOnce.check(one))
          for (const one of values) expect(byParts.errors(one)).toEqual(atOnce.errors(one))
          for (const kind of ["keep", "strip", "defaults", "convert"] as const) {
            const [parts, whole] = [byParts.passes(kind), atOnce.passes(kind)]
            // More values than the first ones, which are looked at in another way.
            for (let round = 0; round * values.length < 40; round++) {
              for (const one of values) expect(parts(one)).toBe(whole(one))
            }
            for (const one of values) {
              const changed = byParts.normalizer(kind).normalize(one)
              expect(changed).toEqual(atOnce.normalizer(kind).normalize(one))
            }
          }
        },
      ),
      { numRuns: runs(40) },
    )
  })
})
