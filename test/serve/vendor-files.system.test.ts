// Files of Zod, Valibot and ArkType: what a handler and its callers receive over every way in.
import { type } from "arktype"
import * as v from "valibot"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createHTTPTransport } from "../../src/http.ts"
import { createClient, createRegistry, defineOperation } from "../../src/index.ts"
import type { AnyOperation } from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import type { ServedHTTP } from "../../src/node.ts"
import { silentLogger } from "../../src/testing.ts"
import { toFile } from "../../src/type.ts"
import { provideBrokers } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()

const WAYS = Object.keys(WAYS_IN).filter(
  (way) => !["NATS", "Redis"].includes(way) || BROKERS[way] !== undefined,
)

/** Ways in whose callers write JSON; callers on the others pass files. */
const JSON_WAYS = ["gateway", "REST", "batch", "hub", "MCP, modern", "MCP, legacy"]

/** Bytes that are not UTF-8. */
const BYTES = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00])
const HEX = "89504e47ff00"
const TEXT = "iVBOR/8A"
const PNG = { type: "image/png" }

/** The same input in every library: a file of at most six bytes, lists, and files that may be missing. */
const INPUTS: Readonly<Record<string, object>> = {
  zod: z.object({
    file: z.file().max(6),
    list: z.array(z.file()),
    maybe: z.file().optional(),
    none: z.file().nullable(),
    deep: z.object({ inner: z.array(z.object({ file: z.file() })) }),
  }),
  "zod, instanceof": z.object({
    file: z.instanceof(File).refine(({ size }) => size <= 6),
    list: z.array(z.instanceof(Blob)),
    maybe: z.instanceof(File).optional(),
    none: z.instanceof(File).nullable(),
    deep: z.object({ inner: z.array(z.object({ file: z.instanceof(File) })) }),
  }),
  valibot: v.object({
    file: v.pipe(v.file(), v.maxSize(6)),
    list: v.array(v.blob()),
    maybe: v.optional(v.file()),
    none: v.nullable(v.file()),
    deep: v.object({ inner: v.array(v.object({ file: v.instance(File) })) }),
  }),
  arktype: type({
    file: type("File").narrow(({ size }) => size <= 6),
    list: "Blob[]",
    "maybe?": "File",
    none: "File | null",
    deep: { inner: type({ file: "File" }).array() },
  }),
}

interface Given {
  readonly file: unknown
  readonly list: readonly unknown[]
  readonly none: unknown
  readonly deep: { readonly inner: readonly { readonly file: unknown }[] }
}

const hexOf = async (value: unknown): Promise<string> => {
  if (!(value instanceof File)) return `no file: ${String(value)}`
  return Buffer.from(await value.arrayBuffer()).toString("hex")
}

const nameOf = (vendor: string): string => vendor.replaceAll(/\W+/g, "_")

function operations(): AnyOperation[] {
  return Object.entries(INPUTS).map(([vendor, inputSchema]) =>
    operation(`own.${nameOf(vendor)}`, {
      inputSchema,
      outputSchema: { type: "array", items: { type: "string" } },
      handler: async ({ file, list: [first], none, deep }: Given) =>
        await Promise.all([file, first, deep.inner[0]?.file, none].map(hexOf)),
    }),
  )
}

describe.each(WAYS)("a file of another library's schema over %s", (way) => {
  let surface: Surface
  let broker: Broker | undefined
  beforeAll(async () => {
    broker = await BROKERS[way]?.()
    const terms = { upstream: "", errors: undefined, operations: operations(), broker: broker?.url }
    surface = await openSurface(way, terms)
  })
  afterAll(async () => {
    await surface[Symbol.asyncDispose]()
    await broker?.[Symbol.asyncDispose]()
  })

  const isJSON = JSON_WAYS.includes(way)
  const file = isJSON ? TEXT : new File([BYTES], "cat.png", PNG)
  const input = { file, list: [file], none: null, deep: { inner: [{ file }] } }
  const dataOf = (data: unknown): unknown =>
    way === "MCP, legacy" ? (data as { result: unknown }).result : data

  test.each(Object.keys(INPUTS))("reaches the handler as a File (%s)", async (vendor) => {
    const { data, code, message } = await surface.call(`own.${nameOf(vendor)}`, { input })
    expect([code, message]).toEqual([undefined, ""])
    expect(dataOf(data)).toEqual([HEX, HEX, HEX, "no file: null"])
    const all = { ...input, none: file, maybe: file }
    const more = await surface.call(`own.${nameOf(vendor)}`, { input: all })
    expect(dataOf(more.data)).toEqual([HEX, HEX, HEX, HEX])
  })

  test.each(Object.keys(INPUTS))("is held to the limits of its schema (%s)", async (vendor) => {
    const long = isJSON ? "AAAAAAAAAAAA" : new File([new Uint8Array(9)], "long")
    const { code } = await surface.call(`own.${nameOf(vendor)}`, {
      input: { ...input, file: long },
    })
    expect(code).toBe("VALIDATION_ERROR")
  })

  test.each(Object.keys(INPUTS))("cannot be something else (%s)", async (vendor) => {
    for (const other of [7, "not base64!", { name: "x", type: "", size: 1 }, [], null]) {
      const { code } = await surface.call(`own.${nameOf(vendor)}`, {
        input: { ...input, file: other },
      })
      expect(code).toBe("VALIDATION_ERROR")
    }
  })
})

const upload = defineOperation({
  type: "mutation",
  description: "Keeps a photo",
  inputSchema: z.object({
    title: z.string(),
    count: z.int().optional(),
    photo: z.file().mime("image/png"),
  }),
  outputSchema: z.object({ title: z.string(), name: z.string(), size: z.int() }),
  accessControl: { requiredScopes: [] },
  handler: ({ title, photo }) => ({ title, name: photo.name, size: photo.size }),
})

const gallery = defineOperation({
  type: "mutation",
  description: "Keeps photos",
  inputSchema: z.object({ photos: z.array(z.file()).min(1) }),
  outputSchema: z.array(z.string()),
  accessControl: { requiredScopes: [] },
  handler: ({ photos }) => photos.map(({ name, size }) => `${name} ${size}`),
})

const download = defineOperation({
  type: "query",
  description: "Returns a photo",
  inputSchema: z.object({ size: z.int() }),
  outputSchema: z.file(),
  accessControl: { requiredScopes: [] },
  handler: ({ size }) => new File([new Uint8Array(size).fill(7)], "Käse.png", PNG),
})

const both = defineOperation({
  type: "query",
  description: "Returns photos",
  inputSchema: z.object({}),
  outputSchema: z.object({ one: z.file(), many: z.array(z.instanceof(File)) }),
  accessControl: { requiredScopes: [] },
  handler: () => {
    const one = new File([BYTES], "a.png", PNG)
    return { one, many: [one, one] }
  },
})

const wrong = defineOperation({
  type: "query",
  description: "Returns text for a photo",
  inputSchema: z.object({}),
  outputSchema: z.file(),
  accessControl: { requiredScopes: [] },
  handler: () => "text" as unknown as File,
})

const createPhotos = () =>
  createRegistry(
    { photo: { upload, gallery, download, both, wrong } },
    { output: "strict", logger: silentLogger },
  )

async function serve(): Promise<ServedHTTP> {
  const served = await serveHTTP(createPhotos(), {
    port: 0,
    maxBodyBytes: 100_000,
    maxUploadBytes: 80 * 1024 * 1024,
    logger: silentLogger,
  })
  onTestFinished(() => served.close())
  return served
}

describe("an upload over HTTP for z.file()", () => {
  const post = async (path: string, body: BodyInit, headers = {}): Promise<[number, unknown]> => {
    const { url } = await serve()
    const response = await fetch(`${url}${path}`, { method: "POST", body, headers })
    return [response.status, await response.json()]
  }
  const formOf = (size: number, kind = "image/png"): FormData => {
    const form = new FormData()
    form.append("title", "A cat")
    form.append("count", "2")
    form.append("photo", new File([new Uint8Array(size)], "../Käse.png", { type: kind }))
    return form
  }

  // The second is longer than what is complete before the handler runs.
  test.each([0, 6, 300_000])("is accepted as a form with a file of %d bytes", async (size) => {
    for (const path of ["/api/photo/upload", "/operations/photo.upload?unwrap=1"]) {
      const answer = await post(path, formOf(size))
      expect(answer).toEqual([200, { title: "A cat", name: "Käse.png", size }])
    }
  })

  test.each([6, 300_000])("is accepted as the body, with %d bytes", async (size) => {
    const body = new Uint8Array(size)
    const headers = {
      "content-type": "image/png",
      "content-disposition": 'attachment; filename="a"',
    }
    const answer = await post("/api/photo/upload?title=A", body, headers)
    expect(answer).toEqual([200, { title: "A", name: "a", size }])
  })

  test("is accepted as base64 text, of the type that the schema names", async () => {
    const body = JSON.stringify({ title: "A", photo: TEXT })
    const headers = { "content-type": "application/json" }
    const answer = await post("/api/photo/upload", body, headers)
    expect(answer).toEqual([200, { title: "A", name: "", size: 6 }])
  })

  test("is accepted as several files with one name", async () => {
    const form = new FormData()
    for (const name of ["a", "b"]) form.append("photos", new File([name], name))
    expect(await post("/api/photo/gallery", form)).toEqual([200, ["a 1", "b 1"]])
  })

  test("is refused by the schema for another type", async () => {
    const [status, problem] = await post("/api/photo/upload", formOf(6, "text/html"))
    expect(status).toBe(400)
    expect(problem).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(JSON.stringify(problem)).toContain("/photo")
  })

  test("is refused if it does not fit into memory, with advice", async () => {
    const [status, problem] = await post("/api/photo/upload", formOf(65 * 1024 * 1024))
    expect(status).toBe(413)
    expect(problem).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      detail: expect.stringContaining("Use FileStream() in its schema") as string,
    })
  })

  test("is refused if its form is cut off", async () => {
    const { url } = await serve()
    const body = '--x\r\ncontent-disposition: form-data; name="title"\r\n\r\nA\r\n--x\r\n'
    const head = 'content-disposition: form-data; name="photo"; filename="a"\r\n'
    const cut = `${body}${head}content-type: image/png\r\n\r\n${"x".repeat(200_000)}`
    const response = await fetch(`${url}/api/photo/upload`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: cut,
    })
    expect(response.status).toBe(400)
  })

  test("ends with its call when its caller stops sending", async () => {
    const { url } = await serve()
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(200_000)),
    })
    const response = await fetch(`${url}/api/photo/upload?title=A`, {
      method: "POST",
      headers: { "content-type": "image/png", "x-timeout-ms": "100" },
      body: source,
      duplex: "half",
    } as RequestInit)
    expect(response.status).toBe(504)
  })
})

describe("a file of z.file() and the HTTP client", () => {
  const connect = async () => {
    const served = await serve()
    const registry = createPhotos()
    const client = createClient<typeof registry>(createHTTPTransport(served.url))
    onTestFinished(() => client.close())
    return client
  }

  // The first is part of the JSON; the second is sent in a request of its own.
  test.each([6, 300_000])("takes %d bytes with their name", async (size) => {
    const client = await connect()
    const photo = new File([new Uint8Array(size)], "Käse.png", PNG)
    const { data } = await client.photo.upload({ title: "A", photo })
    expect(data).toEqual({ title: "A", name: "Käse.png", size })
  })

  test("takes a stream", async () => {
    const client = await connect()
    const photo = toFile(new Blob([BYTES]).stream(), { name: "s.png", ...PNG }) as File
    const { data } = await client.photo.upload({ title: "A", photo })
    expect(data).toEqual({ title: "A", name: "s.png", size: 6 })
  })

  test.each([6, 1_000_000])("returns a File of %d bytes, as its type says", async (size) => {
    const client = await connect()
    // One in a request of its own, two in one that they share.
    const one = await client.photo.download({ size })
    const pair = await Promise.all([
      client.photo.download({ size }),
      client.photo.download({ size }),
    ])
    for (const { data } of [one, ...pair]) {
      expect(data).toBeInstanceOf(File)
      expect([data.name, data.type, data.size]).toEqual(["Käse.png", "image/png", size])
      expect(new Uint8Array(await data.arrayBuffer())[size - 1]).toBe(7)
    }
  })

  test("returns Files inside other data", async () => {
    const client = await connect()
    const { one, many } = (await client.photo.both({})).data
    for (const file of [one, ...many]) {
      expect(file).toBeInstanceOf(File)
      expect([file.name, await hexOf(file)]).toEqual(["a.png", HEX])
    }
  })
})

test("a file of z.file() is downloaded from its REST path", async () => {
  const { url } = await serve()
  const response = await fetch(`${url}/api/photo/download?size=300000`)
  const { headers } = response
  expect([response.status, headers.get("content-type"), headers.get("content-length")]).toEqual([
    200,
    "image/png",
    "300000",
  ])
  expect(headers.get("content-disposition")).toContain("filename*=UTF-8''K%C3%A4se.png")
  expect((await response.arrayBuffer()).byteLength).toBe(300_000)
})

test("a result that is no file does not match z.file()", async () => {
  await expect(createPhotos().execute("photo.wrong", {})).rejects.toMatchObject({
    code: "OUTPUT_VALIDATION_ERROR",
    message: expect.stringContaining("must be a file") as string,
  })
})

test("a Blob and a stream in the same process become the File that the schema asks for", async () => {
  const registry = createPhotos()
  for (const photo of [new Blob([BYTES], PNG), toFile(new Blob([BYTES]).stream(), PNG)]) {
    const { data } = await registry.execute("photo.upload", { title: "A", photo: photo as File })
    expect(data).toEqual({ title: "A", name: "", size: 6 })
  }
  const photo = new File([BYTES], "a", PNG)
  const { data } = await registry.execute("photo.upload", { title: "A", photo })
  expect(data).toEqual({ title: "A", name: "a", size: 6 })
})

test("OpenAPI describes files of z.file() as forms and downloads", async () => {
  const { url } = await serve()
  const document = JSON.stringify(await (await fetch(`${url}/openapi.json`)).json())
  expect(document).toContain("multipart/form-data")
  expect(document).toContain('"image/png"')
})
