import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { Compile } from "typebox/schema"
import { describe, expect, test } from "vitest"
import { deepFreeze } from "../../src/schema/json.ts"
import type { JsonSchema } from "../../src/schema/json.ts"
import type { Normalizer } from "../../src/schema/normalize/index.ts"
import { schemas, values } from "./arbitrary-schemas.ts"
import { checkOf, isClean, normalizerOf } from "./normalize-support.ts"
import type { Changes } from "./normalize-support.ts"
import { runs } from "../support/nightly.ts"

const MODES: readonly Changes[] = [{}, { strip: false }, { strip: false, convert: false }]

/** Which of the things that hold for every schema and every value do not hold here. */
function brokenLaws(
  normalizer: Pick<Normalizer, "isNoop" | "probe" | "normalize">,
  check: (value: unknown) => boolean,
  value: unknown,
): string[] {
  // A frozen value throws when it is changed.
  deepFreeze(value)
  const { value: result, changes } = normalizer.normalize(value)
  const isSame = Object.is(result, value)
  const isValid = check(value)
  const laws: Record<string, boolean> = {
    "changes are reported, and nothing else": (changes.length === 0) === isSame,
    "the same value comes back when nothing changes": isSame || !isDeepStrictEqual(result, value),
    "a second time changes nothing": Object.is(normalizer.normalize(result).value, result),
    "valid stays valid": !isValid || check(result),
    "the probe agrees with the plan": !isValid || isClean(normalizer, value) === isSame,
    "the probe agrees on the result": !isValid || isClean(normalizer, result),
    "a valid value never needs a no-op": !isValid || !normalizer.isNoop || isSame,
    "nothing leaks into prototypes": Object.keys(Object.prototype).length === 0,
  }
  return Object.keys(laws).filter((law) => laws[law] === false)
}

describe("normalising random schemas and values", () => {
  test("the laws hold", () => {
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
          expect(several.flatMap((value) => brokenLaws(normalizer, check, value))).toEqual([])
          for (const value of several) {
            if (!check(value)) continue
            valid++
            if (normalizer.normalize(value).value !== value) changed++
          }
        },
      ),
      { numRuns: runs(300) },
    )
    // Laws about nothing are kept easily: make sure that there was something to do.
    expect(valid).toBeGreaterThan(190)
    expect(changed).toBeGreaterThan(20)
  })
})

const ORDER: JsonSchema = {
  type: "object",
  required: ["id", "lines"],
  properties: {
    id: { type: "integer", minimum: 1 },
    note: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    lines: { type: "array", items: { $ref: "#/$defs/line" } },
    labels: { type: "object", additionalProperties: { $ref: "#/$defs/label" } },
    parent: { anyOf: [{ $ref: "#" }, { type: "null" }] },
    place: {
      prefixItems: [{ type: "number" }, { type: "number" }],
      items: { $ref: "#/$defs/label" },
    },
  },
  $defs: {
    label: {
      type: "object",
      properties: { text: { type: "string" }, hue: { enum: [1, 2], default: 1 } },
    },
    line: {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "item" }, sku: { type: "string" } },
          required: ["kind", "sku"],
        },
        {
          allOf: [{ properties: { price: { type: "number" } } }, { $ref: "#/$defs/label" }],
          properties: { kind: { enum: ["fee", "tax"] } },
          required: ["kind"],
        },
      ],
    },
  },
}

const order = {
  id: 1,
  note: "x",
  lines: [
    { kind: "item", sku: "s" },
    { kind: "tax", price: 2, text: "t", hue: 2 },
  ],
  labels: { a: { text: "t", hue: 1 } },
  parent: { id: 2, note: null, lines: [], parent: null },
  place: [1, 2, { hue: 1 }],
}

/** Changes one thing somewhere in a copy of a value. */
function mutate(value: unknown, steps: readonly number[]): unknown {
  const copy: unknown = structuredClone(value)
  let current = copy as Record<string, unknown>
  for (const step of steps) {
    const keys = Object.keys(current)
    const key = keys[step % keys.length] ?? "none"
    const next = current[key]
    if (typeof next === "object" && next !== null && step % 3 !== 0) {
      current = next as Record<string, unknown>
    } else if (step % 2 === 0) delete current[key]
    else if (typeof next === "number") current[key] = String(next)
    else current[`extra${step % 2}`] = { z: next }
  }
  return copy
}

describe("normalising mutations of a real value", () => {
  test("the laws hold", () => {
    const check = checkOf(ORDER, ORDER)
    const normalizers = MODES.map((mode) => normalizerOf(ORDER, mode))
    const steps = fc.array(fc.array(fc.nat(1000), { minLength: 1, maxLength: 6 }), { maxLength: 4 })
    expect(normalizers[0]?.isClean(order)).toBe(true)
    fc.assert(
      fc.property(steps, (mutations) => {
        const value = mutations.reduce<unknown>(mutate, order)
        const broken = normalizers.flatMap((normalizer) => brokenLaws(normalizer, check, value))
        expect(broken).toEqual([])
      }),
      { numRuns: runs(600) },
    )
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

describe("normalising the JSON Schema Test Suite", () => {
  const folder = fileURLToPath(
    new URL("../../../shared/corpus/json-schema-test-suite/tests/draft2020-12/", import.meta.url),
  )
  const files = existsSync(folder)
    ? readdirSync(folder).filter((file) => file.endsWith(".json"))
    : []

  test("the suite is there, at least in CI", () => {
    if (files.length === 0) {
      // oxlint-disable-next-line no-console -- a suite that is quietly skipped looks like one that passed
      console.warn("No JSON Schema Test Suite: the laws were not run over it.")
    }
    expect(files.length > 0 || !process.env["CI"]).toBe(true)
  })

  test.each(files)("the laws hold for %s", (file) => {
    const cases = JSON.parse(readFileSync(folder + file, "utf8")) as SuiteCase[]
    const broken: string[] = []
    for (const { description, schema, tests } of cases) {
      if (typeof schema === "boolean") continue
      const validator = Compile(schema)
      for (const mode of MODES) {
        const normalizer = normalizerOf(schema, mode)
        for (const { data } of tests.filter(({ valid }) => valid)) {
          const laws = brokenLaws(normalizer, (value) => validator.Check(value), data)
          broken.push(...laws.map((law) => `${law}: ${description}`))
        }
      }
    }
    expect(broken).toEqual([])
  })
})
