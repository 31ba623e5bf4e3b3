import fc from "fast-check"
import type { JsonSchema } from "../../src/schema/json.ts"

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

/** Schemas of all keywords that apply to objects and arrays, with references that have a meaning. */
export const schemas: fc.Arbitrary<JsonSchema> = fc
  .record({ root: anySchema, one: anySchema, two: anySchema })
  .map(({ root, one, two }): JsonSchema => ({ ...root, $defs: { one, two } }))
  .filter((schema) => !loops(schema))

const IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]

/** References that come back to themselves without a step into the value have no meaning. */
function loops(root: JsonSchema): boolean {
  const { one, two } = root["$defs"] as Record<string, JsonSchema>
  const targets = new Map<unknown, unknown>([
    ["#", root],
    ["#/$defs/one", one],
    ["#/$defs/two", two],
  ])
  const inPlace = (part: unknown, above: readonly unknown[]): boolean => {
    if (typeof part !== "object" || part === null) return false
    if (above.includes(part)) return true
    const schema = part as JsonSchema
    const nested = IN_PLACE.map((keyword) => schema[keyword]).flatMap((value) =>
      Array.isArray(value) ? value : [value, ...Object.values(value ?? {})],
    )
    return [targets.get(schema["$ref"]), ...nested].some((next) => inPlace(next, [...above, part]))
  }
  const anywhere = (part: unknown): boolean =>
    typeof part === "object" &&
    part !== null &&
    (inPlace(part, []) || Object.values(part).some(anywhere))
  return anywhere(root)
}

/** Values that often match them: data, and a few things that are no JSON. */
export const values: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
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
})).value
