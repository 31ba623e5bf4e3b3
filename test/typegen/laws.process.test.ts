import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { FromSchema } from "../../src/index.ts"
import { compileSchema } from "../../src/schema/compiled.ts"
import { faultsOf } from "./compile.ts"
import { specOf, typesOf } from "./specs.ts"

type Schema = Record<string, unknown>

const KEYS = ["a", "b", "x-c", "__proto__"]
const DEFINED = ["Node", "Label"]

/** Schemas that name their types, as real ones mostly do. */
const schemas = fc.letrec<{ any: Schema }>((tie) => {
  const inner = tie("any")
  const properties = fc.dictionary(fc.constantFrom(...KEYS), inner, {
    maxKeys: 3,
    noNullPrototype: true,
  })
  const required = fc.subarray(KEYS.slice(0, 3))
  return {
    any: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom<Schema>(
        {},
        { type: "string" },
        { type: "integer" },
        { type: "boolean" },
        { type: "null" },
      ),
      fc.constantFrom<Schema>(
        { type: ["string", "null"] },
        { enum: ["a", 1, null, true] },
        { const: { a: [1] } },
      ),
      fc.constantFrom(...DEFINED.map((name): Schema => ({ $ref: `#/$defs/${name}` }))),
      fc.record<Schema>(
        {
          type: fc.constant("object"),
          properties,
          required,
          additionalProperties: fc.oneof(fc.boolean(), inner),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record<Schema>(
        {
          type: fc.constant("object"),
          properties,
          patternProperties: fc.dictionary(fc.constantFrom("^x-", "^[a-c]$", "^a"), inner, {
            minKeys: 1,
            maxKeys: 2,
            noNullPrototype: true,
          }),
          additionalProperties: fc.oneof(fc.boolean(), inner),
        },
        { requiredKeys: ["type", "patternProperties"] },
      ),
      fc.record<Schema>({ type: fc.constant("array"), items: inner }),
      fc.record<Schema>(
        {
          type: fc.constant("array"),
          prefixItems: fc.array(inner, { minLength: 1, maxLength: 3 }),
          items: fc.oneof(fc.boolean(), inner),
          minItems: fc.nat(3),
          maxItems: fc.nat(4),
        },
        { requiredKeys: ["type", "prefixItems"] },
      ),
      fc.record<Schema>({ anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
      fc.record<Schema>({ oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
      fc.record<Schema>({ allOf: fc.array(inner, { minLength: 1, maxLength: 2 }) }),
      fc.record<Schema>({
        type: fc.constant("object"),
        properties,
        anyOf: fc.array(
          required.map((keys) => ({ required: keys })),
          { minLength: 1, maxLength: 2 },
        ),
      }),
      fc.record<Schema>({ if: inner, then: inner, else: inner }),
    ),
  }
})

const $defs = {
  Node: {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "array", items: { $ref: "#/$defs/Node" } } },
    required: ["a"],
  },
  Label: {
    anyOf: [
      { type: "string" },
      { type: "array", prefixItems: [{ $ref: "#/$defs/Label" }], items: { type: "number" } },
    ],
  },
}

/** Values, of which some fit a schema; keys are among those that schemas name. */
const values = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>("a", "b", 1, 0.5, true, false, null),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("any"), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

/**
 * A value as the narrowest type that it has.
 *
 * Objects say which keys they do not have: TypeScript's rule that an object of optional properties takes
 * none that has only other ones is about slips of programmers, not about values.
 */
function exactType(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(exactType).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = KEYS.map((key) =>
    Object.hasOwn(value, key)
      ? `${JSON.stringify(key)}: ${exactType((value as Record<string, unknown>)[key])}`
      : `${JSON.stringify(key)}?: never`,
  )
  return `{ ${members.join("; ")} }`
}

describe("whatever a schema accepts", () => {
  test("is assignable to its type", { timeout: 240_000 }, async () => {
    const cases = casesOf(20_260)
    expect(cases.reduce((sum, { fitting }) => sum + fitting.length, 0)).toBeGreaterThan(1000)
    const specs = cases.map(({ schema }, at) => specOf({ name: `case${at}`, outputSchema: schema }))
    const uses = cases.flatMap(({ fitting }, at) =>
      fitting.map(
        (value, nth) =>
          `{ const value${nth}: Operations["demo.case${at}"]["output"] = null as unknown as ${exactType(value)}; void value${nth} }`,
      ),
    )
    const faults = await faultsOf({
      "operations.d.ts": typesOf(specs),
      "use.ts": `import type { Operations } from "./operations.d.ts"\n${uses.join("\n")}`,
    })
    expect(faults.map((fault) => explained(fault, uses, cases))).toEqual([])
  })
})

interface Case {
  readonly source: Schema
  readonly schema: Schema
  readonly fitting: readonly unknown[]
}

function casesOf(seed: number): Case[] {
  const found = fc.sample(schemas.any, { numRuns: 400, seed })
  const pool = fc.sample(values.any, { numRuns: 400, seed })
  return found.flatMap((source) => {
    const schema = FromSchema({ ...source, $defs }, { onDiagnostic: () => undefined }) as Schema
    const compiled = compileSchema(schema)
    // What accepts everything shows nothing.
    const fitting = pool.filter((value) => compiled.check(value)).slice(0, 12)
    return [{ source, schema, fitting }]
  })
}

function explained(fault: string, uses: readonly string[], cases: readonly Case[]): string {
  const line = /^use\.ts\((\d+)/.exec(fault)?.[1]
  const use = line === undefined ? undefined : uses[Number(line) - 2]
  const at = /case(\d+)/.exec(use ?? "")?.[1]
  return [fault, use, at && JSON.stringify(cases[Number(at)]?.source)].join("\n")
}
