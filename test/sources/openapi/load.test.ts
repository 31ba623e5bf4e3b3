// Documents from memory, files and the web, and what they may reach.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { FromOpenAPI, FromOpenAPIFile, FromOpenAPIUrl } from "../../../src/from-openapi.ts"
import type { ImportedOperations, OpenAPIUrlConfig } from "../../../src/from-openapi.ts"
import { serve } from "../../http-client/server.ts"
import { quietRegistry, rejection, thrown } from "../../support/operations.ts"
import { oneOperation, record } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const folders: string[] = []

/** A real folder with these files. */
async function folderWith(files: Readonly<Record<string, string | Raw>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "openapi-"))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content))
  }
  return folder
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true })
})

const YAML = `openapi: 3.1.0
info: { title: Files, version: 1.0.0 }
paths:
  /pets/{id}:
    $ref: paths/pet.yaml
`

const PET = `parameters:
  - $ref: ../parameters.yaml#/id
get:
  operationId: getPet
  responses:
    200:
      description: fine
      content:
        application/json:
          schema:
            $ref: ../schemas/Pet.yaml
`

const FILES = {
  "openapi.yaml": YAML,
  "paths/pet.yaml": PET,
  "parameters.yaml": "id: { name: id, in: path, required: true, schema: { type: integer } }",
  "schemas/Pet.yaml": "type: object\nproperties: { owner: { $ref: Owner.yaml } }",
  "schemas/Owner.yaml": "type: object\nproperties: { pets: { items: { $ref: Pet.yaml } } }",
}

function expectPets(operations: ImportedOperations): void {
  expect(operations.report.counts).toMatchObject({ kept: 1, widened: 0, skipped: 0 })
  expect(operations[0]?.inputSchema).toMatchObject({
    properties: { id: { type: "integer" } },
    required: ["id"],
  })
  expect(operations[0]?.outputSchema).toEqual({
    $ref: "#/$defs/Pet.yaml",
    $defs: {
      "Pet.yaml": { type: "object", properties: { owner: { $ref: "#/$defs/Owner.yaml" } } },
      "Owner.yaml": {
        type: "object",
        properties: { pets: { items: { $ref: "#/$defs/Pet.yaml" } } },
      },
    },
  })
}

describe("FromOpenAPIFile", () => {
  test("reads a document of many files, which refer to each other in circles", async () => {
    const folder = await folderWith(FILES)

    expectPets(await FromOpenAPIFile(join(folder, "openapi.yaml"), { namespace: "api" }))
    expectPets(
      await FromOpenAPIFile(relative(process.cwd(), join(folder, "openapi.yaml")), {
        namespace: "api",
      }),
    )
  })

  test("reads with the file system that it is given", async () => {
    const files = new Map(Object.entries(FILES).map(([name, text]) => [`/api/${name}`, text]))
    const read: string[] = []
    const fs = {
      async readFile(path: string): Promise<string> {
        read.push(path)
        return files.get(path) as string
      },
    }

    expectPets(await FromOpenAPIFile("/api/openapi.yaml", { namespace: "api" }, fs))
    expect(read.toSorted()).toEqual([...files.keys()].toSorted())
  })

  test("gives operations that can be called", async () => {
    await using server = await record()
    const folder = await folderWith(FILES)
    const operations = await FromOpenAPIFile(join(folder, "openapi.yaml"), {
      namespace: "api",
      baseUrl: server.url,
    })
    await quietRegistry(operations).execute("api.getPet", { id: 7 })

    expect(server.requests[0]).toMatchObject({
      line: "GET /pets/7 HTTP/1.1",
      headers: { accept: "application/json" },
    })
  })

  test("does not leave the document's folder, by no way", async () => {
    const folder = await folderWith({
      "secret.json": { type: "string", description: "top secret" },
      "api/inside.json": { type: "integer" },
      "api/openapi.json": oneOperation("/x", "post", {
        requestBody: {
          content: {
            "application/json": {
              schema: {
                properties: {
                  inside: { $ref: "inside.json" },
                  up: { $ref: "../secret.json" },
                  encoded: { $ref: "..%2Fsecret.json" },
                  link: { $ref: "link.json" },
                  linked: { $ref: "linked/secret.json" },
                  absolute: { $ref: "file:///etc/passwd" },
                  missing: { $ref: "missing.json" },
                },
              },
            },
          },
        },
      }),
    })
    await symlink(join(folder, "secret.json"), join(folder, "api/link.json"))
    await symlink(folder, join(folder, "api/linked"))
    const path = join(folder, "api/openapi.json")
    const operations = await FromOpenAPIFile(path, { namespace: "api" })
    const [reported] = operations.report.operations

    expect(JSON.stringify(operations[0]?.inputSchema)).not.toContain("secret")
    expect(operations[0]?.inputSchema).toMatchObject({
      properties: { body: { properties: { inside: { $ref: "#/$defs/inside.json" } } } },
    })
    expect(reported?.notes.map(({ pointer }) => pointer.split("/").at(-1))).toEqual([
      "up",
      "encoded",
      "link",
      "linked",
      "absolute",
      "missing",
    ])
    const allowed = await FromOpenAPIFile(path, {
      namespace: "api",
      allowedReferences: ["../secret.json"],
    })
    expect(JSON.stringify(allowed[0]?.inputSchema)).toContain("top secret")
  })

  test("fetches what is allowed on the web, and nothing else", async () => {
    await using server = await serve((_request, response) => response.end('{"type":"boolean"}'))
    const ref = (name: string): Raw => ({ $ref: `${server.url}/${name}` })
    const folder = await folderWith({
      "openapi.json": oneOperation("/x", "get", {
        parameters: [
          { name: "a", in: "query", schema: ref("common/a.json") },
          { name: "b", in: "query", schema: ref("private/b.json") },
        ],
      }),
    })
    const operations = await FromOpenAPIFile(join(folder, "openapi.json"), {
      namespace: "api",
      allowedReferences: [`${server.url}/common/`],
    })

    expect(server.requests.map(({ url }) => url)).toEqual(["/common/a.json"])
    expect(operations[0]?.inputSchema).toMatchObject({
      properties: { a: { $ref: "#/$defs/a.json" }, b: {} },
    })
  })

  test("says which file cannot be read, or is no document", async () => {
    const folder = await folderWith({ "readme.md": "# Hello", "page.html": "<!doctype html>" })
    const missing = await rejection(FromOpenAPIFile(join(folder, "no.yaml"), { namespace: "api" }))
    const other = await rejection(FromOpenAPIFile(join(folder, "readme.md"), { namespace: "api" }))
    const page = await rejection(FromOpenAPIFile(join(folder, "page.html"), { namespace: "api" }))

    expect(missing).toMatchObject({ code: "UNAVAILABLE", retryable: false })
    expect(String(missing)).toContain("no.yaml")
    expect(other).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(page).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(String(page)).toContain("an HTML page")
    expect(await rejection(FromOpenAPIFile("", { namespace: "api" }))).toBeInstanceOf(TypeError)
  })
})

describe("FromOpenAPIUrl", () => {
  test("reads a document of many files, and calls its relative server", async () => {
    await using server = await serve((request, response) => {
      const name = decodeURIComponent(request.url ?? "").replace("/docs/", "")
      const file = (FILES as Record<string, string>)[name]
      if (file === undefined) response.setHeader("content-type", "application/json")
      response.end(file ?? '{"owner":{}}')
    })
    const operations = await FromOpenAPIUrl(`${server.url}/docs/openapi.yaml`, {
      namespace: "api",
      servers: "document",
    })

    expectPets(operations)
    expect((await quietRegistry(operations).execute("api.getPet", { id: 7 })).data).toEqual({
      owner: {},
    })
    expect(server.requests.map(({ url }) => url).toSorted()).toEqual([
      "/docs/openapi.yaml",
      "/docs/parameters.yaml",
      "/docs/paths/pet.yaml",
      "/docs/schemas/Owner.yaml",
      "/docs/schemas/Pet.yaml",
      "/pets/7",
    ])
  })

  test("sends the user's headers to the document's origin, and nowhere else", async () => {
    await using other = await serve((_request, response) => response.end("{}"))
    await using server = await serve((request, response) => {
      if (request.url === "/openapi.json") {
        response.writeHead(302, { location: "/v2/openapi.json" }).end()
        return
      }
      response.end(
        JSON.stringify(
          oneOperation("/x", "get", {
            parameters: [{ name: "a", in: "query", schema: { $ref: `${other.url}/a.json` } }],
          }),
        ),
      )
    })
    const operations = await FromOpenAPIUrl(new URL(`${server.url}/openapi.json`), {
      namespace: "api",
      documentHeaders: { authorization: "Bearer t" },
      allowedReferences: [other.url],
      baseUrl: server.url,
    })
    await quietRegistry(operations).execute("api.op", {})

    expect(server.headers.map(({ authorization }) => authorization)).toEqual([
      "Bearer t",
      "Bearer t",
      undefined,
    ])
    expect(other.headers.map(({ authorization }) => authorization)).toEqual([undefined])
  })

  test("takes references from where a redirect led, not from where it began", async () => {
    await using server = await serve((request, response) => {
      if (request.url === "/latest") response.writeHead(302, { location: "/v2/api.json" }).end()
      else if (request.url === "/v2/pets.json") response.end(`{ "get": { "operationId": "pets" } }`)
      else if (request.url === "/v2/api.json") {
        response.end(
          `{ "openapi": "3.1.0", "info": {}, "paths": { "/pets": { "$ref": "pets.json" } } }`,
        )
      } else response.writeHead(404).end()
    })
    const operations = await FromOpenAPIUrl(`${server.url}/latest`, { namespace: "api" })

    expect(operations.map(({ name }) => name)).toEqual(["pets"])
  })

  test("does not follow a redirect to another origin", async () => {
    await using other = await serve((_request, response) => response.end("{}"))
    await using server = await serve((_request, response) => {
      response.writeHead(302, { location: other.url }).end()
    })
    const error = await rejection(FromOpenAPIUrl(server.url, { namespace: "api" }))

    expect(error).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect(other.connections()).toBe(0)
  })

  test.each([
    "http://127.0.0.1:1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://localhost/",
  ])("does not load %s under blockPrivate", async (url) => {
    const config = { namespace: "api", blockPrivate: true, fetch: () => expect.fail("fetched") }

    expect(await rejection(FromOpenAPIUrl(url, config))).toMatchObject({ code: "EGRESS_BLOCKED" })
  })

  test("a document from the web may not send calls to private addresses", async () => {
    await using inner = await serve((_request, response) => response.end("secret"))
    await using server = await serve((_request, response) => {
      response.end(JSON.stringify(oneOperation("/x", "get", {}, { servers: [{ url: inner.url }] })))
    })
    const operations = await FromOpenAPIUrl(server.url, { namespace: "api", servers: "document" })

    expect(await rejection(quietRegistry(operations).execute("api.op", {}))).toMatchObject({
      code: "EGRESS_BLOCKED",
    })
    expect(inner.connections()).toBe(0)
  })

  test("says what went wrong: an address, an answer, an abort", async () => {
    await using server = await serve((request, response) => {
      if (request.url === "/404?key=k") response.writeHead(404).end()
      else if (request.url === "/page") response.end("<!doctype html><title>Log in</title>")
    })
    const config = { namespace: "api" }
    const controller = new AbortController()
    const waiting = FromOpenAPIUrl(`${server.url}/silent`, { ...config, signal: controller.signal })
    controller.abort()

    expect(await rejection(waiting)).toMatchObject({ code: "ABORTED" })
    expect(await rejection(FromOpenAPIUrl("/relative", config))).toBeInstanceOf(TypeError)
    expect(await rejection(FromOpenAPIUrl("file:///etc/passwd", config))).toBeInstanceOf(TypeError)
    expect(String(await rejection(FromOpenAPIUrl(`${server.url}/404?key=k`, config)))).toMatch(
      /\/404 answered 404/,
    )
    expect(String(await rejection(FromOpenAPIUrl(`${server.url}/page`, config)))).toContain(
      "an HTML page",
    )
  })
})

describe("FromOpenAPI", () => {
  test("takes an object, JSON and YAML, and gives the same", () => {
    const spec = oneOperation("/x", "get", {})
    const yaml =
      'openapi: 3.1.0\ninfo: { title: Test, version: "1.0.0" }\npaths:\n  /x:\n    get:\n      operationId: op\n      responses: { 200: { description: "" } }\n'
    const reports = [spec, JSON.stringify(spec), `\uFEFF\n${JSON.stringify(spec)}`, yaml].map(
      (source) => FromOpenAPI(source, { namespace: "api" }).report,
    )

    expect(reports[0]?.counts.kept).toBe(1)
    for (const report of reports) expect(report).toEqual(reports[0])
  })

  test.each([
    ["nothing", undefined],
    ["no object", 5],
    ["a list", []],
    ["another document", { asyncapi: "2.0.0" }],
    ["a text that is none", "https://api.test/openapi.json"],
    ["an empty text", ""],
    ["version 1", { swaggerVersion: "1.2" }],
    ["version 4", { openapi: "4.0.0" }],
  ])("refuses %s", (_what, spec) => {
    const error = thrown(() => FromOpenAPI(spec as Raw, { namespace: "api" }))

    expect(error).toBeInstanceOf(Error)
    expect((error as Error).message.length).toBeGreaterThan(20)
  })

  test.each([undefined, {}, { namespace: "" }, { namespace: "a.b" }, { namespace: "a b" }])(
    "refuses the configuration %j",
    async (config) => {
      const given = config as unknown as { namespace: string }

      expect(thrown(() => FromOpenAPI({ openapi: "3.1.0" }, given))).toBeInstanceOf(TypeError)
      expect(await rejection(FromOpenAPIFile("x.yaml", given))).toBeInstanceOf(TypeError)
      expect(await rejection(FromOpenAPIUrl("https://a.test", given))).toBeInstanceOf(TypeError)
    },
  )

  test("leaves a frozen document alone, and gives the same twice", () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === "object" && value !== null) Object.values(value).forEach(freeze)
      return Object.freeze(value)
    }
    const content = { "application/json": { schema: { $ref: "#/components/schemas/A" } } }
    const spec = freeze(
      oneOperation(
        "/x/{id}",
        "post",
        { requestBody: { content }, responses: { 200: { description: "", content } } },
        {
          components: {
            schemas: {
              A: { type: "object", nullable: true, properties: { a: { readOnly: true } } },
            },
          },
        },
      ),
    )
    const [one, other] = [1, 2].map(() => FromOpenAPI(spec, { namespace: "api" }))

    expect(one?.report).toEqual(other?.report)
    expect(one?.[0]?.inputSchema).toEqual(other?.[0]?.inputSchema)
    expect(one?.[0]?.outputSchema).toEqual(other?.[0]?.outputSchema)
  })
})

describe("documentHeaders over plain http", () => {
  const spec = JSON.stringify(oneOperation("/x", "get", {}))
  const sent: unknown[] = []
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    sent.push(url, init?.headers)
    return new Response(spec)
  }
  const load = (url: string, more: Partial<OpenAPIUrlConfig> = {}): Promise<unknown> =>
    FromOpenAPIUrl(url, { namespace: "api", fetch, ...more })

  test.each(["authorization", "X-Key", "cookie"])(
    "do not carry %s to another host",
    async (name) => {
      const before = sent.length
      const error = await rejection(
        load("http://docs.example/openapi.json", { documentHeaders: { [name]: "canary-1" } }),
      )

      expect(error).toMatchObject({ code: "EGRESS_BLOCKED" })
      expect(String(error)).toContain("insecure: true")
      expect(String(error)).not.toContain("canary-1")
      expect(sent).toHaveLength(before)
    },
  )

  test.each<[string, Partial<OpenAPIUrlConfig>]>([
    ["https://docs.example/openapi.json", { documentHeaders: { authorization: "x" } }],
    ["http://127.0.0.1/openapi.json", { documentHeaders: { authorization: "x" } }],
    ["http://localhost/openapi.json", { documentHeaders: { authorization: "x" } }],
    ["http://docs.example/openapi.json", { documentHeaders: { "accept-language": "en" } }],
    ["http://docs.example/openapi.json", { documentHeaders: { "x-key": "x" }, insecure: true }],
    ["http://docs.example/openapi.json", {}],
  ])("go to %s with %j", async (url, more) => {
    await load(url, more)

    expect(sent.at(-1)).toMatchObject(more.documentHeaders ?? {})
  })
})
