import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { NO_VALUE } from "../../../src/schema/json.ts"

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
    components: {
      schemas: { Pet: { type: "object" }, Other: { type: "string" } },
      responses: {
        Listed: json({ type: "array", items: pet }),
        Gone: json({ $ref: "#/components/schemas/Other" }),
      },
    },
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

  test("are the same where a reference to the response describes them", () => {
    const listed = { $ref: "#/components/responses/Listed" }
    const gone = { $ref: "#/components/responses/Gone" }
    const [first, second, created, empty, both, lost] = outputsOf(
      { 200: listed },
      { 200: listed, 404: gone },
      { 201: listed },
      { 204: listed },
      { 200: listed, 201: gone },
      { 200: { $ref: "#/components/responses/Lost" } },
    )

    expect(first).toMatchObject({ type: "array", items: { $ref: "#/$defs/Pet" } })
    expect(second).toBe(first)
    expect(created).toBe(first)
    expect(empty).toEqual(NO_VALUE)
    expect(both).toMatchObject({ anyOf: [{ type: "array" }, { $ref: "#/$defs/Other" }] })
    expect(lost).toEqual({})
  })

  test("have no value where the only success has no content", () => {
    const [deleted, reset, either] = outputsOf(
      { 204: { description: "" }, 404: json(pet) },
      { 205: { description: "" } },
      { 204: { description: "" }, 200: json(pet) },
    )

    expect(deleted).toEqual(NO_VALUE)
    expect(reset).toBe(deleted)
    expect(either).toMatchObject({ anyOf: [{ $ref: "#/$defs/Pet" }, NO_VALUE] })
  })

  test("are anything where the reference leads nowhere", () => {
    const lost = json({ $ref: "#/components/schemas/Lost" })
    const [one, two] = outputsOf({ 200: lost }, { 200: lost, 201: lost })

    expect(one).toEqual({})
    expect(two).toBe(one)
  })
})
