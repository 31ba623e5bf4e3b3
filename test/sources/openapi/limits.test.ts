import { describe, expect, test } from "vitest"
import { FromOpenAPI, FromOpenAPIFile } from "../../../src/from-openapi.ts"
import type { ImportedOperations } from "../../../src/from-openapi.ts"
import { oneOperation, openapi } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

/** Three operations, each with one part in a file of its own. */
const FILES: Readonly<Record<string, unknown>> = {
  "/api/openapi.json": openapi({
    "/operation": { get: { $ref: "operation.json" } },
    "/parameter": { get: { parameters: [{ $ref: "parameter.json" }], responses: { 200: {} } } },
    "/schema": {
      get: {
        responses: {
          200: { content: { "application/json": { schema: { $ref: "schema.json" } } } },
        },
      },
    },
  }),
  "/api/operation.json": { operationId: "op", responses: { 200: {} } },
  "/api/parameter.json": { name: "q", in: "query", schema: { type: "string" } },
  "/api/schema.json": { type: "string" },
}

async function importWith(config: Raw): Promise<ImportedOperations> {
  return await FromOpenAPIFile(
    "/api/openapi.json",
    { namespace: "api", ...config },
    { readFile: (path) => Promise.resolve(JSON.stringify(FILES[path])) },
  )
}

describe("a document that refers to more files than may be loaded", () => {
  test("is complete when it just fits", async () => {
    const { report } = await importWith({ maxFiles: 3 })

    expect(report.counts).toMatchObject({ kept: 3, widened: 0, skipped: 0 })
    expect(report.warnings).toEqual([])
  })

  test("says so, and no operation with missing parts counts as kept", async () => {
    for (const maxFiles of [1, 2]) {
      const { report } = await importWith({ maxFiles })

      expect(report.counts.kept).toBe(maxFiles)
      expect(report.warnings).toEqual([
        expect.stringContaining(`refers to more than ${maxFiles} file`),
      ])
      expect(String(report)).toContain(`! ${report.warnings[0]}`)
      for (const { status, notes } of report.operations) {
        if (status === "kept") continue
        expect(notes[0]?.message).toContain(`the document refers to more than ${maxFiles} files`)
      }
    }
  })

  test.each([0, -1, 1.5, "10", Number.NaN])(
    "is not imported with maxFiles %j",
    async (maxFiles) => {
      await expect(importWith({ maxFiles })).rejects.toThrow(TypeError)
    },
  )
})

describe("a limit of schemas that is reached", () => {
  function reportOf(schema: unknown): ImportedOperations["report"] {
    const content = { "application/json": { schema } }
    return FromOpenAPI(oneOperation("/x", "post", { requestBody: { content } }), {
      namespace: "api",
    }).report
  }

  test.each<[string, unknown, string]>([
    [
      "nesting",
      Array.from({ length: 300 }).reduce<unknown>((items) => ({ type: "array", items }), {}),
      "nested deeper than 200 steps",
    ],
    ["length of a pattern", { type: "string", pattern: "a".repeat(5000) }, "over 4096 characters"],
    [
      "parts of a schema",
      { anyOf: Array.from({ length: 200_001 }, () => ({ minimum: 1 })) },
      "very many parts",
    ],
  ])("%s: is a warning about the document and a note on the operation", (_what, schema, text) => {
    const { counts, warnings, operations } = reportOf(schema)

    expect(warnings).toEqual([expect.stringContaining(text)])
    expect(counts).toMatchObject({ kept: 0, widened: 1 })
    expect(operations[0]?.notes).not.toEqual([])
  })
})
