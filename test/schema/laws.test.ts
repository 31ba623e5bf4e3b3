import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { admitSchema } from "../../src/schema/admit.ts"
import { compileValidator } from "../../src/schema/validator.ts"
import { explain } from "../../src/schema/explain.ts"
import { deepFreeze } from "../../src/schema/json.ts"
import { admitPattern } from "../../src/schema/regex/pattern.ts"
import { Links } from "../../src/schema/refs.ts"
import { runs } from "../support/nightly.ts"

const name = fc.constantFrom(
  "a",
  "b",
  "__proto__",
  "constructor",
  "toString",
  "$ref",
  "items",
  "a/b~c",
)

const dictionary = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(name, value), { maxLength: 3 }).map((entries) => {
    const record: Record<string, T> = {}
    for (const [key, member] of entries) {
      Object.defineProperty(record, key, {
        value: member,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return record
  })

/** Schemas of many dialects, well-formed and not, some with references that lead nowhere. */
const { schema } = fc.letrec<{ schema: unknown; keyword: [string, unknown] }>((tie) => {
  const sub = tie("schema")
  const list = fc.array(sub, { maxLength: 2 })
  const values: Record<string, fc.Arbitrary<unknown>> = {
    $schema: fc.constantFrom(
      "http://json-schema.org/draft-07/schema#",
      "http://json-schema.org/draft-04/schema#",
      "https://json-schema.org/draft/2019-09/schema",
    ),
    type: fc.constantFrom("string", "object", "array", "number", ["string", "null"], "strnig"),
    enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }),
    const: fc.jsonValue({ maxDepth: 1 }),
    minLength: fc.constantFrom(0, 1, 2, "x"),
    minimum: fc.constantFrom(0, 1, "1"),
    exclusiveMinimum: fc.constantFrom(0, true),
    nullable: fc.boolean(),
    pattern: fc.constantFrom("^a", String.raw`[\w-.]`, "(a+)+$", "("),
    required: fc.array(name, { maxLength: 2 }),
    properties: dictionary(sub),
    patternProperties: dictionary(sub),
    additionalProperties: sub,
    unevaluatedProperties: sub,
    unevaluatedItems: sub,
    items: fc.oneof(sub, list),
    additionalItems: sub,
    contains: sub,
    dependencies: dictionary(fc.oneof(sub, fc.array(name, { maxLength: 1 }))),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: sub,
    if: sub,
    then: sub,
    $defs: dictionary(sub),
    $ref: fc.constantFrom("#", "#/$defs/a", "#/properties/a", "#/items/0", "#/allOf/0"),
    $recursiveRef: fc.constant("#"),
    $recursiveAnchor: fc.boolean(),
    title: fc.string({ maxLength: 3 }),
  }
  const keywords = Object.entries(values).map(([keyword, value]) =>
    fc.tuple(fc.constant(keyword), value),
  )
  return {
    keyword: fc.oneof(...keywords),
    schema: fc.oneof(
      { depthSize: "small" },
      fc.boolean(),
      fc
        .uniqueArray(tie("keyword"), { selector: ([keyword]) => keyword, maxLength: 4 })
        .map((entries): unknown => Object.fromEntries(entries)),
    ),
  }
})

const dialect = fc.constantFrom(
  undefined,
  "2020-12" as const,
  "draft-07" as const,
  "draft-04" as const,
  "openapi-3.0" as const,
)

const value = fc.oneof(
  dictionary(fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined))),
  fc.jsonValue({ maxDepth: 2 }),
)

describe("admitSchema, for any schema", () => {
  test("admitting changes nothing in the source, and what comes out admits as itself", () => {
    fc.assert(
      fc.property(schema, dialect, (source, chosen) => {
        deepFreeze(source)
        const before = JSON.stringify(source)
        const { schema: admitted } = admitSchema(
          source,
          chosen === undefined ? {} : { dialect: chosen },
        )
        expect(JSON.stringify(source)).toBe(before)
        const text = JSON.stringify(admitted)
        const again = admitSchema(JSON.parse(text))
        expect(JSON.stringify(again.schema)).toBe(text)
        expect(again.diagnostics).toEqual([])
      }),
      { numRuns: runs(150) },
    )
  })

  test("check and errors agree, and a reason is found exactly where the compiled check refuses", () => {
    fc.assert(
      fc.property(schema, value, (source, data) => {
        const { schema: admitted } = admitSchema(source)
        const validator = compileValidator(admitted)
        const passed = validator.check(data)
        expect(validator.errors(data).length === 0).toBe(passed)
        const reasons = explain(admitted, new Links(admitted), data, 100, false)
        expect(reasons.length === 0).toBe(passed)
      }),
      { numRuns: runs(250) },
    )
  })
})

describe("parseRegex, for any sloppy pattern", () => {
  const piece = fc.constantFrom(
    ...[String.raw`\_`, String.raw`\-`, "{", "}", "]", String.raw`[\w-.]`, String.raw`[a-\d]`],
    ...["a", "b?", "c*", "(d|e)", String.raw`\d`, ".", "[^x-z]", String.raw`\x41`, "a{1,2}", "x{"],
    ...["^", "$", String.raw`\b`, String.raw`\"`, String.raw`\@`, "(?=a)", String.raw`\01`, "-"],
  )

  test("the rewritten one matches the same text", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
        fc.array(
          fc.string({ unit: fc.constantFrom(...'abcdeAxyz_-.{}]@" 01'.split("")), maxLength: 8 }),
          {
            minLength: 5,
          },
        ),
        (pattern, texts) => {
          let original: RegExp
          try {
            original = new RegExp(pattern)
          } catch {
            return
          }
          const admitted = admitPattern(pattern, 4096)
          if (!("pattern" in admitted)) return
          const rewritten = new RegExp(admitted.pattern, "u")
          for (const text of texts) expect(rewritten.test(text), text).toBe(original.test(text))
        },
      ),
      { numRuns: runs(400) },
    )
  })
})
