import { describe, expect, test } from "vitest"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import type { ImportedOperation, ImportedOperations } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { deepFreeze, SchemaLaws } from "./laws.ts"
import { exampleFiles, exampleText } from "./oas-examples.ts"

const json = exampleFiles("json")
const yaml = exampleFiles("yaml")

const imports = new Map<string, ImportedOperations>()

/** What a document gives: each is imported once. */
function importOf(file: string): ImportedOperations {
  const known = imports.get(file)
  if (known !== undefined) return known
  const config = { namespace: "api", baseUrl: "https://api.test" }
  const operations = FromOpenAPI(exampleText(file), config)
  imports.set(file, operations)
  return operations
}

function operationOf(file: string, name: string): ImportedOperation {
  const found = importOf(file).find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`${file} has no operation "${name}".`)
  return found
}

/** Path and method pairs, counted the plain way. */
function countOf(document: object): number {
  const { paths = {} } = document as { paths?: Record<string, object> }
  const methods = /^(?:get|put|post|delete|options|head|patch|trace)$/
  return Object.values(paths).reduce(
    (sum, item) => sum + Object.keys(item).filter((key) => methods.test(key)).length,
    0,
  )
}

test("there are documents of all kinds", () => {
  expect(json).toHaveLength(70)
  expect(yaml).toHaveLength(59)
})

describe.each(json)("%s", (file) => {
  test("gives every operation, with closed schemas that can check values", () => {
    const operations = importOf(file)
    const laws = new SchemaLaws()

    expect(operations.flatMap((operation) => laws.faults(operation))).toEqual([])
    for (const { inputSchema, outputSchema, errorSchemas = [] } of operations.slice(0, 10)) {
      for (const schema of [inputSchema, outputSchema, ...errorSchemas.map((one) => one.schema)]) {
        expect(typeof compileSchema(schema).check({})).toBe("boolean")
      }
    }
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length)
    const { twins, skipped } = operations.report.counts
    expect(skipped).toBe(0)
    // One path is a reference to another, which has one operation.
    const more = file.endsWith("server-path-level.json") ? 1 : 0
    expect(operations.length - twins - more).toBe(countOf(JSON.parse(exampleText(file)) as object))
  })

  test("imports the same from a frozen object", () => {
    const document = deepFreeze(JSON.parse(exampleText(file)) as object)
    const again = FromOpenAPI(document, { namespace: "api", baseUrl: "https://api.test" })

    expect(JSON.stringify(again.report)).toBe(JSON.stringify(importOf(file).report))
  })
})

// These two were not kept in step: a method differs.
const different = "3.1/yaml/parameters-style.yaml"

test.each(yaml.filter((file) => file !== different))("%s gives the same as its JSON", (file) => {
  const twin = file.replaceAll("yaml", "json")
  expect(json).toContain(twin)

  const operations = importOf(file)

  const expected = importOf(twin)
  expect(JSON.stringify(operations.report)).toBe(JSON.stringify(expected.report))
  expect(operations.map(({ _meta }) => _meta)).toEqual(expected.map(({ _meta }) => _meta))
  expect(operations.map(({ inputSchema }) => inputSchema)).toEqual(
    expected.map(({ inputSchema }) => inputSchema),
  )
})

describe("exact expectations", () => {
  test("a pet of Swagger 2.0 is added as JSON", async () => {
    const operation = operationOf("2.0/json/petstore.json", "addPet")

    expect(operation.type).toBe("mutation")
    expect(operation.inputSchema).toMatchObject({
      type: "object",
      properties: { body: { $ref: "#/$defs/Pet" } },
      required: ["body"],
    })
    expect(await prepareRequest(operation, { body: { name: "Rex", photoUrls: [] } })).toEqual({
      method: "POST",
      url: "https://api.test/pet",
      headers: { accept: "application/json, application/xml", "content-type": "application/json" },
      body: '{"name":"Rex","photoUrls":[]}',
    })
  })

  test("the tags of Swagger 2.0 are repeated", async () => {
    const operation = operationOf("2.0/json/petstore.json", "findPetsByTags")
    const { url } = await prepareRequest(operation, { tags: ["a", "b c"] })

    expect(url).toBe("https://api.test/pet/findByTags?tags=a&tags=b%20c")
  })

  test("a pet of 3.0 that is looked for by its id may be missing", () => {
    const { errorSchemas, annotations } = operationOf("3.0/json/petstore.json", "getPetById")

    expect(errorSchemas?.map(({ code }) => code)).toEqual(["HTTP_400", "HTTP_404", "HTTP_DEFAULT"])
    expect(annotations).toMatchObject({ idempotent: true, readOnly: true })
  })

  test("a file of 3.0 is sent as it is", async () => {
    const operation = operationOf("3.0/json/petstore.json", "uploadFile")
    const file = new File(["data"], "rex.png", { type: "image/png" })
    const { headers, body } = await prepareRequest(operation, { petId: 1, body: { file } })

    expect(headers["content-type"] ?? "multipart/form-data").toMatch(/^multipart\/form-data/)
    expect(body).toBeInstanceOf(FormData)
    expect((body as FormData).get("file")).toMatchObject({ name: "rex.png", type: "image/png" })
  })

  test("cookies go into one header", async () => {
    const [operation] = importOf("3.0/json/parameters-cookies.json")
    const { headers } = await prepareRequest(operation!, { bar: "2 3", foo: "1" })

    expect(headers["cookie"]).toBe("foo=1; bar=2%203")
  })

  test("recursive schemas check values of any depth", () => {
    const { outputSchema } = importOf("3.0/json/schema-circular.json")[0]!

    expect(() => compileSchema(outputSchema).check({})).not.toThrow()
    expect(JSON.stringify(outputSchema).length).toBeLessThan(100_000)
  })

  test("every status of HTTP is a success, an error or neither", () => {
    for (const { _meta = {}, errorSchemas = [] } of importOf("3.0/json/http-status-codes.json")) {
      const { path } = _meta["openapi"] as { path: string }
      // What the document says of 512 is 521.
      const status = Number(/\d{3}/.exec(path)?.[0].replace("512", "521"))
      const codes = errorSchemas.map(({ code }) => code)
      expect(codes, path).toEqual(status >= 400 ? [`HTTP_${status}`] : [])
    }
  })

  test("of several ways to prove who calls, the one that can be gone is taken", async () => {
    const file = "3.0/json/security-multiple.json"
    const operations = FromOpenAPI(exampleText(file), {
      namespace: "api",
      baseUrl: "https://api.test",
      credentials: { apiKey_header: "key" },
    })
    const either = operations.find(({ name }) => name === "post_anything_or")
    const all = operations.find(({ name }) => name === "post_anything_and")

    expect((await prepareRequest(either!, {})).headers).toMatchObject({ "x-api-key": "key" })
    await expect(prepareRequest(all!, {})).rejects.toMatchObject({ code: "UNAUTHENTICATED" })
  })
})
