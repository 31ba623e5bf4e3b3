import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { OperationSpecSchema } from "../../src/core/spec-schemas.ts"
import { compileSchema } from "../../src/schema/compiled.ts"
import { surelyMatches } from "../../src/core/validation.ts"
import { runs } from "../support/nightly.ts"

const SPEC = {
  name: "create",
  namespace: "task",
  version: "1.0.0",
  type: "mutation",
  title: "Create",
  description: "Creates a task",
  tags: ["tasks"],
  inputSchema: { type: "object" },
  outputSchema: true,
  errorSchemas: [{ code: "FULL", description: "No place", schema: {}, httpStatus: 409 }],
  accessControl: { requiredScopes: ["write"], resourceType: "list", resourceAction: "write" },
  visibility: "external",
  annotations: { idempotent: false },
  deprecated: true,
  deprecation: { since: "2026-03-01", replacedBy: "task.add", link: "https://example.com" },
  examples: [1],
  _meta: {},
}

/** What no field accepts, what few do, and what reads differently than it looks. */
const VALUES: readonly unknown[] = [
  ...[undefined, null, true, "", "a", "a.b", ".", "é", "\u{1f600}", "x".repeat(257), "2026-03-01"],
  ...[0, 1.5, 404, Number.NaN, [], ["a"], [1], Array.from({ length: 1 }), {}, { a: 1 }, new Date()],
  ...[Object.create({ requiredScopes: [] }), { requiredScopes: [], resourceAction: "read" }],
  ...[[{ code: "", description: "", schema: {} }], { since: "yesterday" }, { link: "ftp://a" }],
]

describe("surelyMatches", () => {
  test("knows a whole spec, so that a registry starts without compiling the schema of specs", () => {
    expect(surelyMatches(OperationSpecSchema, SPEC)).toBe(true)
  })

  test("never accepts a spec that its compiled schema refuses", () => {
    const compiled = compileSchema(OperationSpecSchema)
    const field = fc.constantFrom(...Object.keys(SPEC))
    const change = fc.tuple(field, fc.constantFrom(...VALUES))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const fields = { ...SPEC, ...Object.fromEntries(changes) }
        expect(!surelyMatches(OperationSpecSchema, fields) || compiled.check(fields)).toBe(true)
      }),
      { numRuns: runs(400) },
    )
  })

  test.each(Object.keys(SPEC))("sees a wrong %s, and one that is inherited", (field) => {
    const { [field as "name"]: value, ...others } = SPEC
    const compiled = compileSchema(OperationSpecSchema)
    const inherited = Object.assign(Object.create({ [field]: value }) as object, others)
    expect(surelyMatches(OperationSpecSchema, { ...SPEC, [field]: 7 })).toBe(false)
    expect(!surelyMatches(OperationSpecSchema, inherited) || compiled.check(inherited)).toBe(true)
  })

  test("leaves what cannot be read to the compiled schema", () => {
    const annotations = {
      get readOnly() {
        throw new Error("not now")
      },
    }
    expect(surelyMatches(OperationSpecSchema, { ...SPEC, annotations })).toBe(false)
  })

  test.each([
    ["a keyword", { type: "string", format: "date" }],
    ["a type", { type: "number" }],
    ["a length that counts characters", { type: "string", minLength: 2 }],
  ])("leaves %s that it does not know to the compiled schema", (_what, schema) => {
    expect(surelyMatches(schema, "2026-03-01")).toBe(false)
  })
})
