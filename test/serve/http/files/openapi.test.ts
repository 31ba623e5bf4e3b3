import { createHash } from "node:crypto"
import { describe, expect, onTestFinished, test } from "vitest"
import { FromOpenAPI } from "../../../../src/from-openapi.ts"
import { createRegistry } from "../../../../src/engine/registry.ts"
import { silentLogger } from "../../../../src/internal/logger.ts"
import { serveHTTP } from "../../../../src/node.ts"
import { createDocument } from "../create-document.ts"
import { plainSchema } from "../../../../src/schema/read/plain-schema.ts"
import { defineOperation } from "../../../../src/index.ts"
import { Bytes, toFile, Type } from "../../../../src/type.ts"
import type { FileLike } from "../../../../src/type.ts"
import { faultsOf } from "../openapi-back.ts"
import { fileRegistry, repeated } from "./files.ts"

const about = { title: "Files", version: "1.0.0", restPath: "/api" }

/** What is looked at in an operation of a document. */
interface Shown {
  readonly requestBody: { readonly content: object }
  readonly responses: Readonly<Record<string, { readonly content: object }>>
}

describe("files in an OpenAPI document", () => {
  test("are base64 text in JSON parameters, and are read as such", async () => {
    const schema = Type.Object({ body: Type.Object({ file: Bytes() }) })
    const registry = createRegistry(
      [
        defineOperation({
          ...{ namespace: "files", name: "length", type: "query", description: "" },
          inputSchema: schema,
          outputSchema: Type.Integer(),
          accessControl: { requiredScopes: [] },
          handler: ({ body: { file } }) => file.length,
        }),
      ],
      { logger: silentLogger },
    )
    const document = createDocument(registry, about)
    const { get } = document.paths["/api/files/length"] as Record<string, Shown>
    const file = { type: "string", contentEncoding: "base64" }
    expect(get).toMatchObject({
      parameters: [
        { name: "body", content: { "application/json": { schema: { properties: { file } } } } },
      ],
    })
    await using served = await serveHTTP(registry, { port: 0, logger: silentLogger })
    const call = async (text: string): Promise<unknown> => {
      const body = encodeURIComponent(JSON.stringify({ file: text }))
      return await (await fetch(`${served.url}/api/files/length?body=${body}`)).json()
    }
    expect(await call(btoa("four"))).toBe(4)
    expect(await call("no base64!")).toMatchObject({ code: "VALIDATION_ERROR", status: 400 })
  })

  test("are forms with binary parts, bodies of bytes, and responses of bytes", async () => {
    const document = createDocument(fileRegistry(), about)
    const paths = document.paths as Record<string, Record<string, Shown>>
    const post = (name: string): Shown => paths[`/api/files/${name}`]?.["post"] as Shown

    expect(await faultsOf(document)).toBeUndefined()
    expect(post("upload").requestBody).toMatchObject({
      required: true,
      content: {
        "multipart/form-data": {
          schema: {
            type: "object",
            required: ["title", "file"],
            properties: {
              title: { type: "string" },
              file: { type: "string", format: "binary", description: "The file to keep" },
            },
          },
        },
      },
    })
    expect(Object.keys(post("upload").requestBody.content)).toEqual(["multipart/form-data"])
    expect(post("sum").requestBody.content).toHaveProperty(["multipart/form-data"])
    expect(post("whole").requestBody.content).toMatchObject({
      "application/octet-stream": { schema: { type: "string", format: "binary" } },
    })
    expect(post("whole").responses["200"]?.content).toMatchObject({
      "image/png": { schema: { type: "string", format: "binary" } },
    })
    expect(post("encoded").requestBody.content).toMatchObject({
      "application/json": {
        schema: { properties: { text: { type: "string", contentEncoding: "base64" } } },
      },
    })
    expect(paths["/api/files/download"]?.["get"]?.responses["200"]?.content).toMatchObject({
      "application/octet-stream": { schema: { type: "string", format: "binary" } },
    })
  })

  test.each(["3.1", "3.2"] as const)("are read back unchanged from %s", (openapi) => {
    const registry = fileRegistry()
    const text = JSON.stringify(createDocument(registry, { ...about, openapi }))

    const imported = FromOpenAPI(text, { namespace: "files", baseUrl: "https://api.test" })

    const back = imported.map(({ name, inputSchema, outputSchema }) => {
      const { properties } = plainSchema(inputSchema) as { properties?: { body?: unknown } }
      return [name, properties?.body, plainSchema(outputSchema)]
    })
    const expected = imported.map(({ name }) => {
      const spec = registry.getSpec(`files.${name}`)
      // What these take is in the query.
      const hasBody = name !== "download" && name !== "broken"
      const input = hasBody ? plainSchema(spec?.inputSchema) : undefined
      return [name, input, plainSchema(spec?.outputSchema)]
    })
    expect(back).toEqual(expected)
  })

  test("work when the import calls the server", async () => {
    const server = await serveHTTP(fileRegistry(), {
      port: 0,
      logger: silentLogger,
      maxBodyBytes: 1000,
      maxUploadBytes: 10_000_000,
    })
    onTestFinished(() => server.close())
    const document = await (await fetch(new URL("openapi.json", server.url))).text()
    const imported = FromOpenAPI(document, { namespace: "files", baseUrl: server.url })
    const registry = createRegistry(imported)
    const call = async (name: string, body: unknown): Promise<unknown> =>
      (await registry.execute(`files.${name}`, body)).data

    const hash = createHash("sha256").update(new Uint8Array(500_000).fill(7)).digest("hex")
    const uploaded = await call("upload", {
      body: { title: "T", file: toFile(repeated(500_000), { name: "a.bin", type: "a/b" }) },
    })
    const named = await call("upload", { body: { title: "T", file: new File(["abc"], "n.txt") } })

    expect(uploaded).toMatchObject({ file: { hash, name: "a.bin", type: "a/b" } })
    expect(named).toMatchObject({ file: { name: "n.txt" } })
    expect(await call("whole", { body: new Uint8Array([1, 2]) })).toEqual(new Uint8Array([2, 1]))
    const file = (await call("download", { length: 5 })) as FileLike
    expect(await file.arrayBuffer()).toEqual(new Uint8Array(5).fill(7).buffer)
  })
})
