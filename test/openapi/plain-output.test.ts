import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../src/from_openapi.ts"

const pet = { $ref: "#/components/schemas/Pet" }
const json = (schema: object): object => ({
  description: "",
  content: { "application/json": { schema } },
})

/** The output schemas of operations with these responses, one path each. */
function outputsOf(...responses: readonly object[]): unknown[] {
  const paths = responses.map((declared, index) => [`/${index}`, { get: { responses: declared } }])
  const spec = {
    openapi: "3.0.3",
    info: { title: "Pets", version: "1" },
    paths: Object.fromEntries(paths) as Record<string, never>,
    components: { schemas: { Pet: { type: "object" }, Other: { type: "string" } } },
  }
  return FromOpenAPI(spec, { namespace: "pets" }).map(({ outputSchema }) => outputSchema)
}

describe("results that one reference describes", () => {
  test("are the same schema for all operations that have it", () => {
    const [first, second, created] = outputsOf(
      { 200: json(pet) },
      { 200: json(pet), 404: json({ type: "string" }) },
      { 200: json(pet), 201: json(pet) },
    )

    expect(first).toMatchObject({ $ref: "#/$defs/Pet", $defs: { Pet: { type: "object" } } })
    expect(second).toBe(first)
    expect(created).toBe(first)
  })

  test("are not taken for results that differ in anything", () => {
    const [plain, ...others] = outputsOf(
      { 200: json(pet) },
      { 200: json(pet), 204: { description: "" } },
      { 200: json(pet), 201: json({ $ref: "#/components/schemas/Other" }) },
      { 200: json({ type: "array", items: pet }) },
      { 200: { description: "", content: { "application/pdf": { schema: pet } } } },
      { 200: json({ $ref: "#/components/schemas/Other" }) },
    )

    for (const other of others) expect(other).not.toEqual(plain)
  })
})
