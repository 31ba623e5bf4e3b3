// @isolated: it changes what the whole process uses.
// Uploads and downloads in every framework, as the guides mount them.
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { silentLogger } from "../../../src/internal/logger.ts"
import { createRegistry, defineOperation } from "../../../src/index.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { Bytes, FileStream, toFile, Type } from "../../../src/type.ts"
import { root } from "../../support/manifest.ts"
import { MOUNT_WAYS } from "./mounts.ts"
import type { Mounted, MountWay } from "./mounts.ts"

/** Parsers that turn all bodies into text, as the way of Lambda without base64 does. */
const TEXT_WAYS = [
  "Express, express.text()",
  "Hono, a body that was read, passed on",
  "Lambda, text",
]
/** Fastify's own parsers refuse the types of uploads. */
const REFUSING_WAYS = ["Fastify, its own parser"]
const FILE_WAYS = MOUNT_WAYS.filter(({ name }) => ![...TEXT_WAYS, ...REFUSING_WAYS].includes(name))

const PATTERN = new Uint8Array(65_536).map((_, at) => (at * 31 + (at >> 8)) % 256)

/** Bytes that are not text, many of them, and always the same. */
function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at += PATTERN.length) bytes.set(PATTERN.subarray(0, size - at), at)
  return bytes
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const rest = { description: "Of a test", accessControl: { requiredScopes: [] } } as const

const stream = defineOperation({
  ...rest,
  type: "mutation",
  inputSchema: Type.Object({ title: Type.String(), file: FileStream() }),
  outputSchema: Type.Object({ title: Type.String(), name: Type.String(), hash: Type.String() }),
  handler: async ({ title, file }) => {
    const hash = hashOf(new Uint8Array(await file.arrayBuffer()))
    return { title, name: file.name ?? "", hash }
  },
})

const zod = defineOperation({
  ...rest,
  type: "mutation",
  inputSchema: z.object({ title: z.string(), file: z.file() }),
  outputSchema: z.object({ title: z.string(), name: z.string(), hash: z.string() }),
  handler: async ({ title, file }) => {
    const hash = hashOf(new Uint8Array(await file.arrayBuffer()))
    return { title, name: file.name, hash }
  },
})

const download = defineOperation({
  ...rest,
  type: "query",
  inputSchema: Type.Object({ size: Type.Integer() }),
  outputSchema: FileStream(),
  handler: ({ size }) => {
    const file = new Blob([bytesOf(size)])
    return toFile(file.stream(), { name: "Käse.png", type: "image/png", size })
  },
})

const bytes = defineOperation({
  ...rest,
  type: "query",
  inputSchema: Type.Object({ size: Type.Integer() }),
  outputSchema: Bytes(),
  handler: ({ size }) => bytesOf(size),
})

async function mounted(way: MountWay): Promise<Mounted> {
  const registry = createRegistry({ file: { stream, zod, download, bytes } }, { output: "strict" })
  const http = toHTTP(registry, {
    logger: silentLogger,
    maxUploadBytes: 10_000_000,
    maxBodyBytes: 100_000,
    ...(way.prefix === "kept" && { basePath: "/api/v1" }),
  })
  const { send, [Symbol.asyncDispose]: unmount } = await way.mount(http, "/api/v1")
  return {
    send: (path, init) => send(`/api/v1${path}`, init),
    async [Symbol.asyncDispose]() {
      await http.close()
      await unmount()
    },
  }
}

const JSON_FILE = new TextEncoder().encode('{"a":1}')

/** The sizes around the limit up to which a file is complete before its handler runs; a parser may keep less. */
function sizesFor({ parses = false }: MountWay): readonly number[] {
  return parses ? [0, 50_000] : [0, 50_000, 3_000_000]
}

describe.each(FILE_WAYS)("a file in $name", (way) => {
  test("is uploaded as a form", async () => {
    await using api = await mounted(way)
    for (const [operation, size] of sizesFor(way).flatMap(
      (one) =>
        [
          ["stream", one],
          ["zod", one],
        ] as const,
    )) {
      const form = new FormData()
      form.append("title", "A cat")
      form.append("file", new File([bytesOf(size)], "Käse.png", { type: "image/png" }))
      const response = await api.send(`/api/file/${operation}`, { method: "POST", body: form })
      const hash = hashOf(bytesOf(size))
      expect([response.status, await response.json()]).toEqual([
        200,
        { title: "A cat", name: "Käse.png", hash },
      ])
    }
  })

  test("is uploaded as a body of any type", async () => {
    await using api = await mounted(way)
    // A parser of text destroys files of that type.
    const plain = way.name === "Express, all parsers" ? [] : ["text/plain"]
    const kinds = ["image/png", "application/octet-stream", "text/html", "a/b", ...plain]
    for (const type of [...kinds, "application/pdf", "video/mp4", "application/zip"]) {
      const body = bytesOf(1000)
      const response = await api.send("/api/file/stream?title=A", {
        method: "POST",
        body,
        headers: { "content-type": type, "content-disposition": 'attachment; filename="a.bin"' },
      })
      expect([type, response.status, await response.json()]).toEqual([
        type,
        200,
        { title: "A", name: "a.bin", hash: hashOf(body) },
      ])
    }
  })

  test("is uploaded as base64 text in JSON", async () => {
    await using api = await mounted(way)
    const file = Buffer.from(bytesOf(1000)).toString("base64")
    for (const operation of ["stream", "zod"]) {
      const response = await api.send(`/api/file/${operation}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ title: "A", file }),
      })
      expect(await response.json()).toMatchObject({ hash: hashOf(bytesOf(1000)) })
    }
  })

  test.each([0, 1000, 3_000_000])("is downloaded with %d bytes", async (size) => {
    await using api = await mounted(way)
    for (const operation of ["download", "bytes"]) {
      const response = await api.send(`/api/file/${operation}?size=${size}`)
      expect(response.status).toBe(200)
      expect(hashOf(new Uint8Array(await response.arrayBuffer()))).toBe(hashOf(bytesOf(size)))
      if (operation === "bytes") continue
      expect(response.headers.get("content-type")).toBe("image/png")
      expect(response.headers.get("content-disposition")).toContain("K%C3%A4se.png")
    }
  })
})

// A file of JSON is told from an input by its disposition; a parser of JSON has read it by then.
test.each(FILE_WAYS.filter(({ parses = false }) => !parses))(
  "a file of JSON is uploaded in $name",
  async (way) => {
    await using api = await mounted(way)
    const response = await api.send("/api/file/stream?title=A", {
      method: "POST",
      body: JSON_FILE,
      headers: {
        "content-type": "application/json",
        "content-disposition": 'attachment; filename="a.json"',
      },
    })
    expect(await response.json()).toEqual({ title: "A", name: "a.json", hash: hashOf(JSON_FILE) })
  },
)

test.each(MOUNT_WAYS.filter(({ name }) => REFUSING_WAYS.includes(name)))(
  "a form is refused by the framework itself in $name",
  async (way) => {
    await using api = await mounted(way)
    const form = new FormData()
    form.append("file", new File(["x"], "x"))
    const response = await api.send("/api/file/stream", { method: "POST", body: form })
    expect(response.status).toBe(415)
    expect(await response.text()).toContain("FST_ERR_CTP_INVALID_MEDIA_TYPE")
  },
)

test("the guides mount in Fastify without its parsers", async () => {
  for (const page of ["docs/guides/frameworks.md", "docs/getting-started.md"]) {
    const text = await readFile(`${root}/${page}`, "utf8")
    expect(text).toContain("removeAllContentTypeParsers()")
    expect(text).not.toContain("request.raw, reply.raw, request.body")
  }
})
