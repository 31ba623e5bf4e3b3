import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { Compile } from "typebox/schema"
import { describe, expect, test } from "vitest"
import { deepFreeze } from "../../src/schema/json.ts"
import type { JsonSchema } from "../../src/schema/json.ts"
import type { Normalizer } from "../../src/schema/normalize/index.ts"
import { checkOf, normalizerOf } from "./normalize-support.ts"
import type { Changes } from "./normalize-support.ts"

const MODES: readonly Changes[] = [{}, { strip: false }, { strip: false, convert: false }]

/** What holds for every schema and every value. */
function obeysTheLaws(
  normalizer: Normalizer,
  check: (value: unknown) => boolean,
  value: unknown,
): void {
  deepFreeze(value)
  const { value: result, changes } = normalizer.normalize(value)
  const isSame = Object.is(result, value)

  expect(changes.length === 0, "a change is reported, and nothing else").toBe(isSame)
  if (!isSame) expect(isDeepStrictEqual(result, value), "a copy differs").toBe(false)
  const again = normalizer.normalize(result)
  expect(again.value, "a second time changes nothing").toBe(result)
  if (check(value)) {
    expect(check(result), "valid stays valid").toBe(true)
    expect(normalizer.isClean(value), "the probe agrees").toBe(isSame)
    expect(normalizer.isClean(result), "the probe agrees on the result").toBe(true)
    if (normalizer.isNoop) expect(isSame, "nothing to do").toBe(true)
  }
  expect(Object.keys(Object.prototype), "nothing leaks").toEqual([])
}

const NAMES = ["a", "b", "kind", "__proto__", "constructor", "x-1"]
const name = fc.constantFrom(...NAMES)
const scalar = fc.constantFrom<unknown>(null, true, 0, 1, 1.5, "1", "true", "", "a")

const SIMPLE = fc.constantFrom<JsonSchema | boolean>(
  {},
  true,
  false,
  { type: "number" },
  { type: "string" },
  { type: ["integer", "null"] },
  { type: "boolean", default: true },
  { const: "a" },
  { const: "b" },
  { enum: ["1", 1] },
  { properties: { a: {} } },
  { $ref: "#/$defs/one" },
  { $ref: "#/$defs/two" },
  { $ref: "#" },
)

const { schema: anySchema } = fc.letrec<{
  schema: JsonSchema
  sub: JsonSchema | boolean
  value: unknown
}>((tie) => {
  const sub = tie("sub")
  const list = (maxLength: number) => fc.array(sub, { minLength: 1, maxLength })
  const keyword = (weight: number, key: string, value: fc.Arbitrary<unknown>) => ({
    weight,
    arbitrary: fc.tuple(fc.constant(key), value),
  })
  const keywords = fc.oneof(
    keyword(
      4,
      "type",
      fc.constantFrom("object", "array", ["object", "null"], ["string", "object"]),
    ),
    keyword(12, "properties", fc.dictionary(name, sub, { maxKeys: 3 })),
    keyword(
      2,
      "patternProperties",
      fc.dictionary(fc.constantFrom("^x", "a", "^[ab]$"), sub, { maxKeys: 2 }),
    ),
    keyword(3, "additionalProperties", sub),
    keyword(4, "required", fc.array(name, { maxLength: 2 })),
    keyword(3, "items", sub),
    keyword(2, "prefixItems", list(2)),
    keyword(3, "allOf", list(2)),
    keyword(4, "anyOf", list(3)),
    keyword(4, "oneOf", list(3)),
    keyword(2, "if", sub),
    keyword(2, "then", sub),
    keyword(2, "else", sub),
    keyword(1, "not", sub),
    keyword(2, "dependentSchemas", fc.dictionary(name, sub, { maxKeys: 1 })),
    keyword(
      1,
      "dependentRequired",
      fc.dictionary(name, fc.array(name, { maxLength: 1 }), { maxKeys: 1 }),
    ),
    keyword(2, "unevaluatedProperties", fc.oneof(fc.constant(false), sub)),
    keyword(1, "propertyNames", fc.constantFrom({ pattern: "^a" }, { maxLength: 4 })),
    keyword(1, "minProperties", fc.constantFrom(1, 2)),
    keyword(1, "maxProperties", fc.constantFrom(1, 2, 3)),
    keyword(1, "uniqueItems", fc.constant(true)),
    keyword(1, "contains", sub),
    keyword(8, "default", tie("value")),
  )
  return {
    value: fc.oneof(
      { maxDepth: 2, depthSize: "small" },
      scalar,
      fc.array(tie("value"), { maxLength: 2 }),
      fc.dictionary(name, tie("value"), { maxKeys: 3 }),
    ),
    sub: fc.oneof(
      { maxDepth: 4, depthIdentifier: "schema" },
      { weight: 1, arbitrary: SIMPLE },
      { weight: 2, arbitrary: tie("schema") },
    ),
    schema: fc
      .uniqueArray(keywords, { minLength: 1, maxLength: 4, selector: ([key]) => key })
      .map((pairs): JsonSchema => Object.fromEntries(pairs)),
  }
})

const schemas = fc
  .record({ root: anySchema, one: anySchema, two: anySchema })
  .map(({ root, one, two }): JsonSchema => ({ ...root, $defs: { one, two } }))
  .filter((schema) => !loops(schema))

/** References that come back to themselves without a step into the value have no meaning. */
function loops(root: JsonSchema): boolean {
  const defs = root["$defs"] as Record<string, JsonSchema>
  const inPlace = (schema: unknown, above: readonly unknown[]): boolean => {
    if (typeof schema !== "object" || schema === null) return false
    if (above.includes(schema)) return true
    const path = [...above, schema]
    const { $ref, allOf, anyOf, oneOf, dependentSchemas, not, ...rest } = schema as Record<
      string,
      any
    >
    const target = { "#": root, "#/$defs/one": defs["one"], "#/$defs/two": defs["two"] }[
      $ref as string
    ]
    return [
      target,
      ...[allOf, anyOf, oneOf].flatMap((list) => list ?? []),
      not,
      rest["if"],
      rest["then"],
      rest["else"],
      ...Object.values(dependentSchemas ?? {}),
    ].some((part) => inPlace(part, path))
  }
  const every = (schema: unknown): boolean =>
    typeof schema === "object" &&
    schema !== null &&
    (inPlace(schema, []) || Object.values(schema).some(every))
  return every(root)
}

const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "medium" },
    { weight: 2, arbitrary: scalar },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, 5n, new Date(0), -0, Number.NaN) },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    {
      weight: 6,
      arbitrary: fc.dictionary(fc.constantFrom(...NAMES, "z", "x-2"), tie("value"), {
        maxKeys: 4,
        noNullPrototype: false,
      }),
    },
  ),
}))

describe("over random schemas and values", () => {
  test("the laws hold", { timeout: 120_000 }, () => {
    let valid = 0
    let changed = 0
    fc.assert(
      fc.property(
        schemas,
        fc.array(values, { minLength: 4, maxLength: 8 }),
        fc.constantFrom(...MODES),
        (schema, several, mode) => {
          const normalizer = normalizerOf(schema, mode)
          const check = checkOf(schema, schema)
          expect(normalizer.hasProbe).toBe(true)
          for (const value of several) {
            obeysTheLaws(normalizer, check, value)
            if (!check(value)) continue
            valid++
            if (normalizer.normalize(value).value !== value) changed++
          }
        },
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 1500) },
    )
    // Laws about nothing are kept easily: make sure that there was something to do.
    expect(valid).toBeGreaterThan(500)
    expect(changed).toBeGreaterThan(50)
  })
})

interface SuiteCase {
  readonly description: string
  readonly schema: JsonSchema | boolean
  readonly tests: readonly {
    readonly description: string
    readonly data: unknown
    readonly valid: boolean
  }[]
}

describe("over the JSON Schema Test Suite", () => {
  const folder = fileURLToPath(
    new URL("../../../shared/corpus/json-schema-test-suite/tests/draft2020-12/", import.meta.url),
  )
  if (!existsSync(folder)) {
    test("the suite is there", () => {
      console.warn("The JSON Schema Test Suite is not there: the laws were not run over it.")
      expect(process.env["CI"], "CI needs the suite").toBeFalsy()
    })
    return
  }

  test.each(readdirSync(folder).filter((file) => file.endsWith(".json")))(
    "the laws hold for %s",
    (file) => {
      const cases = JSON.parse(readFileSync(folder + file, "utf8")) as SuiteCase[]
      for (const { schema, tests } of cases) {
        if (typeof schema === "boolean") continue
        for (const mode of MODES) {
          const normalizer = normalizerOf(schema, mode)
          const validator = Compile(schema)
          for (const { data, valid } of tests) {
            if (valid) obeysTheLaws(normalizer, (value) => validator.Check(value), data)
          }
        }
      }
    },
  )
})
