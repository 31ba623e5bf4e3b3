// Files in inputs: what a handler, or the API behind an operation, receives over every way in.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation } from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import { Bytes, FileStream } from "../../src/type.ts"
import type { FileLike } from "../../src/type.ts"
import { provideBrokers } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"
import { toolOf } from "../tools/surface-support.ts"

const BROKERS = await provideBrokers()

const WAYS = Object.keys(WAYS_IN).filter(
  (way) => !["NATS", "Redis"].includes(way) || BROKERS[way] !== undefined,
)

/** Ways in whose callers write JSON; callers on the others pass bytes. */
const JSON_WAYS = ["gateway", "REST", "batch", "hub", "MCP, modern", "MCP, legacy"]

/** Bytes that are not UTF-8, and whose base64 text is not its own base64 text. */
const BYTES = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00])
const TEXT = "iVBOR/8A"

/** The parts of requests that the API received: the type and the bytes in hexadecimal. */
const received: string[] = []

const api = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => void answer(Buffer.concat(chunks)))
  const answer = async (body: Buffer): Promise<void> => {
    const type = request.headers["content-type"] ?? ""
    if (!type.startsWith("multipart/")) received.push(`${type} ${body.toString("hex")}`)
    else {
      const form = await new Response(new Uint8Array(body), {
        headers: { "content-type": type },
      }).formData()
      for (const [name, value] of form) {
        if (typeof value === "string") received.push(`${name}=${value}`)
        else {
          const hex = Buffer.from(await value.arrayBuffer()).toString("hex")
          received.push(`${name}: ${value.name} ${value.type} ${hex}`)
        }
      }
    }
    response.setHeader("content-type", "application/json").end("{}")
  }
})

const BINARY = { type: "string", format: "binary" }

/** An API with files in the three kinds of bodies. */
function documentOf(openapi: "3.0.3" | "3.1.0"): string {
  const file = openapi === "3.0.3" ? BINARY : { contentMediaType: "image/png" }
  const raw = openapi === "3.0.3" ? { schema: BINARY } : {}
  const properties = { title: { type: "string" }, pages: { type: "integer" }, photo: file }
  const form = { schema: { type: "object", properties, required: ["photo"] } }
  const bodies = { form: ["multipart/form-data", form], bytes: ["application/octet-stream", raw] }
  const all = Object.entries({ ...bodies, image: ["image/png", raw] })
  const paths = all.map(([name, [type, content]]) => [
    `/${name}`,
    {
      post: {
        operationId: name,
        parameters: [{ name: "album", in: "query", schema: { type: "string" } }],
        requestBody: { required: true, content: { [type as string]: content } },
        responses: { "200": { description: "ok" } },
      },
    },
  ])
  const info = { title: "Photos", version: "1" }
  return JSON.stringify({ openapi, info, paths: Object.fromEntries(paths) as unknown })
}

const hexOf = async (value: unknown): Promise<string> => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex")
  return typeof value === "string" ? `text ${value}` : await hexOf(await bytesOf(value as FileLike))
}
const bytesOf = async (file: FileLike): Promise<Uint8Array> =>
  new Uint8Array(await file.arrayBuffer())

const list = (schema: object): object => ({ type: "array", items: schema })
const object = (properties: object): object => ({ type: "object", properties })

/** One's own operations, with files as properties, in lists and in nested objects. */
function ownOperations(): AnyOperation[] {
  const define = (name: string, file: object): AnyOperation =>
    operation(`own.${name}`, {
      inputSchema: object({
        file,
        list: list(file),
        deep: object({ inner: list(object({ file })) }),
      }),
      outputSchema: list({ type: "string" }),
      handler: async ({ file: one, list: [first], deep }: Given) =>
        await Promise.all([one, first, deep.inner[0]?.file].map(hexOf)),
    })
  return [
    define("plain", { format: "binary" }),
    define("bytes", Bytes()),
    define("stream", FileStream()),
  ]
}

interface Given {
  readonly file: unknown
  readonly list: readonly unknown[]
  readonly deep: { readonly inner: readonly { readonly file: unknown }[] }
}

let upstream = ""
beforeAll(async () => {
  api.listen(0, "127.0.0.1")
  await once(api, "listening")
  upstream = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
})
afterAll(() => {
  api.close()
})

const imported = (openapi: "3.0.3" | "3.1.0", namespace: string): readonly AnyOperation[] =>
  FromOpenAPI(documentOf(openapi), { namespace, baseUrl: upstream })

describe.each(WAYS)("a file in an input over %s", (way) => {
  let surface: Surface
  let broker: Broker | undefined
  beforeAll(async () => {
    const operations = [
      ...imported("3.0.3", "old"),
      ...imported("3.1.0", "new"),
      ...ownOperations(),
    ]
    broker = await BROKERS[way]?.()
    const terms = { upstream, errors: undefined, operations, broker: broker?.url }
    surface = await openSurface(way, terms)
  })
  afterAll(async () => {
    await surface[Symbol.asyncDispose]()
    await broker?.[Symbol.asyncDispose]()
  })

  const file = JSON_WAYS.includes(way) ? TEXT : BYTES

  test.each(["old", "new"])("reaches an imported API as its bytes (%s)", async (namespace) => {
    received.length = 0
    const body = { title: "Cat", pages: 2, photo: file }
    for (const [name, input] of Object.entries({ form: body, bytes: file, image: file })) {
      const { code, message } = await surface.call(`${namespace}.${name}`, {
        input: { body: input },
      })
      expect([name, code, message]).toEqual([name, undefined, ""])
    }
    expect(received).toEqual([
      "title=Cat",
      "pages=2",
      `photo: photo ${namespace === "old" ? "application/octet-stream" : "image/png"} 89504e47ff00`,
      "application/octet-stream 89504e47ff00",
      "image/png 89504e47ff00",
    ])
  })

  test.each(["plain", "bytes", "stream"])("reaches a handler as its bytes (%s)", async (name) => {
    const one = name === "stream" && file === BYTES ? new Blob([BYTES]) : file
    const input = { file: one, list: [one], deep: { inner: [{ file: one }] } }
    const { data, code, message } = await surface.call(`own.${name}`, { input })
    expect([code, message]).toEqual([undefined, ""])
    const hex = "89504e47ff00"
    // Clients of the older protocol take objects only.
    const items = way === "MCP, legacy" ? (data as { result: unknown }).result : data
    expect(items).toEqual([hex, hex, hex])
  })

  if (!JSON_WAYS.includes(way)) return
  test("is refused if its text is not base64", async () => {
    received.length = 0
    const input = { body: { photo: "not base64!" } }
    const { code, message } = await surface.call("old.form", { input })
    expect(code).toBe("VALIDATION_ERROR")
    // Over MCP, the places are on further lines.
    const place = way.startsWith("MCP") ? "The input is invalid" : "/body/photo must be base64 text"
    expect(message).toContain(place)
    expect(received).toEqual([])
  })
})

test("the schema of a tool says that a file of an imported API is base64 text", () => {
  const base64 = { type: "string", contentEncoding: "base64" }
  for (const version of ["3.0.3", "3.1.0"] as const) {
    const [form, bytes, image] = imported(version, "api").map((one) => toolOf(one).inputSchema)
    expect(form).toMatchObject({ properties: { body: { properties: { photo: base64 } } } })
    expect([bytes, image]).toMatchObject([
      { properties: { body: base64 } },
      { properties: { body: base64 } },
    ])
  }
})

describe("a form that is sent to an imported API over REST", () => {
  const serve = async (): Promise<string> => {
    const registry = createRegistry([...imported("3.0.3", "api")], { logger: silentLogger })
    const served = await serveHTTP(registry, {
      port: 0,
      maxBodyBytes: 1000,
      maxUploadBytes: 100_000,
      logger: silentLogger,
    })
    onTestFinished(() => served.close())
    return served.url
  }

  test.each([6, 50_000])("arrives with the names and types of files of %d bytes", async (size) => {
    received.length = 0
    const url = await serve()
    const form = new FormData()
    form.append("title", "Cat")
    form.append("pages", "2")
    form.append("photo", new File([new Uint8Array(size)], "cat.png", { type: "image/png" }))
    const response = await fetch(`${url}/api/api/form?album=A`, { method: "POST", body: form })
    expect([response.status, await response.text()]).toEqual([200, "{}"])
    const hex = "00".repeat(size)
    expect(received).toEqual(["title=Cat", "pages=2", `photo: cat.png image/png ${hex}`])
  })
})
