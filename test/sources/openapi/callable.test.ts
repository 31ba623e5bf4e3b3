import { describe, expect, test } from "vitest"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { callable, UNCALLABLE } from "./callable.ts"
import { minimalValue } from "./minimal.ts"
import { exampleFiles, exampleText } from "./oas-examples.ts"
import { oneOperation, openapi, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const KNOWN_NAMES = [...UNCALLABLE.keys()].map((key) => key.split(" ")[1] ?? "")

async function faultsOf(document: object | string): Promise<string[]> {
  const { kept, fault } = callable(document)
  const faults: string[] = []
  for (const operation of kept) {
    const found = await fault(operation)
    if (found !== undefined) faults.push(`${operation.name} ${found}`)
  }
  return faults
}

const PET = {
  type: "object",
  required: ["name", "kind"],
  properties: {
    name: { type: "string", pattern: "^[a-z]{3,5}$" },
    kind: { enum: ["cat", "dog"] },
    next: { $ref: "#/components/schemas/Pet" },
  },
}
const JSON_PET = { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } }

function withParameter(parameter: Raw): Raw {
  return oneOperation("/x", "get", { parameters: [{ name: "p", required: true, ...parameter }] })
}

describe("every kept operation can be called", () => {
  test.each<[string, Raw]>([
    [
      "with a body and an answer",
      openapi(
        {
          "/pets/{id}": {
            put: {
              parameters: [
                { name: "id", in: "path", required: true, schema: { type: "integer", minimum: 3 } },
                {
                  name: "ids",
                  in: "query",
                  required: true,
                  schema: { type: "array", minItems: 2 },
                },
              ],
              requestBody: { required: true, content: JSON_PET },
              responses: { 200: { description: "", content: JSON_PET } },
            },
            head: { responses: { 200: {} } },
            delete: { responses: { 204: {} } },
          },
          "/events": {
            get: {
              responses: {
                200: { content: { "text/event-stream": JSON_PET["application/json"] } },
              },
            },
          },
        },
        { components: { schemas: { Pet: PET } } },
      ),
    ],
    ["with a list in its path", withParameter({ in: "path", schema: { type: "array" } })],
    [
      "with bytes in its query",
      withParameter({ in: "query", schema: { type: "string", format: "binary" } }),
    ],
    [
      "with a file in its query",
      swagger({
        "/x": { get: { parameters: [{ name: "p", in: "query", required: true, type: "file" }] } },
      }),
    ],
    [
      "with a list as a form",
      oneOperation("/x", "post", {
        requestBody: {
          required: true,
          content: { "application/x-www-form-urlencoded": { schema: { type: "array" } } },
        },
      }),
    ],
    [
      "with a text as a form of parts",
      oneOperation("/x", "post", {
        requestBody: {
          required: true,
          content: { "multipart/form-data": { schema: { type: "integer" } } },
        },
      }),
    ],
  ])("%s", async (_what, spec) => {
    expect(await faultsOf(spec)).toEqual([])
  })

  test.each(exampleFiles("json"))("of %s", async (file) => {
    const found = await faultsOf(exampleText(file))

    expect(
      found.filter((fault) => !KNOWN_NAMES.some((name) => fault.startsWith(`${name} `))),
    ).toEqual([])
  })

  test("which the smallest input shows", async () => {
    const { kept } = callable(
      openapi(
        { "/pets": { post: { requestBody: { required: true, content: JSON_PET } } } },
        { components: { schemas: { Pet: PET } } },
      ),
    )
    const { inputSchema } = kept[0] ?? {}
    const input = minimalValue(inputSchema)

    expect(Object.keys((input as { body: object }).body)).toEqual(["name", "kind"])
    expect(inputSchema && compileSchema(inputSchema).check(input)).toBe(true)
  })
})
