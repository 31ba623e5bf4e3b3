import { createHash } from "node:crypto"
import { describe, expect, onTestFinished, test } from "vitest"
import { createHTTPTransport } from "../../../../src/http.ts"
import type { HTTPTransportOptions } from "../../../../src/http.ts"
import { createClient } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/internal/logger.ts"
import { serveHTTP } from "../../../../src/node.ts"
import { toFile } from "../../../../src/type.ts"
import { fileRegistry, repeated } from "./files.ts"

const MB = 1024 * 1024

async function client(options: HTTPTransportOptions = {}) {
  const registry = fileRegistry()
  const server = await serveHTTP(registry, {
    port: 0,
    logger: silentLogger,
    maxUploadBytes: 64 * MB,
  })
  const own = createClient<typeof registry>(createHTTPTransport(server.url, options))
  onTestFinished(async () => {
    await own.close()
    await server.close()
  })
  return own
}

const hash = (length: number): string =>
  createHash("sha256").update(new Uint8Array(length).fill(7)).digest("hex")

describe("a typed client over HTTP", () => {
  test.each([
    [
      "a small File",
      () => new File([new Uint8Array(1000).fill(7)], "ä.bin", { type: "a/b" }),
      1000,
    ],
    [
      "a large File",
      () => new File([new Uint8Array(3 * MB).fill(7)], "ä.bin", { type: "a/b" }),
      3 * MB,
    ],
    ["a stream", () => toFile(repeated(3 * MB), { name: "ä.bin", type: "a/b" }), 3 * MB],
  ])("sends %s", async (_, make, size) => {
    const own = await client()

    const { data } = await own.files.upload({ title: "T", tags: ["x"], file: make() })

    const file = { name: "ä.bin", type: "a/b", size, hash: hash(size) }
    expect(data).toMatchObject({ title: "T", tags: ["x"], file })
  })

  test("sends a Blob, bytes, and files in a list", async () => {
    const own = await client()
    const blob = new Blob([new Uint8Array(2 * MB).fill(7)])

    const uploaded = await own.files.upload({ title: "T", file: blob })
    const summed = await own.files.sum({ bytes: new Uint8Array([1, 2]) })
    const several = await own.files.several({
      files: [new File(["a"], "1"), toFile(new Blob(["b"]).stream() as never)],
    })

    expect(uploaded.data.file).toMatchObject({ size: 2 * MB, hash: hash(2 * MB) })
    expect(summed.data).toBe(3)
    expect(several.data).toEqual(["a", "b"])
  })

  test("receives a file as a stream, with its name, type and size", async () => {
    const own = await client()
    const asked = { length: 10 * MB, name: "ä.bin", type: "a/b", size: 10 * MB }

    const { data, meta } = await own.files.download(asked)

    expect([data.name, data.type, data.size]).toEqual(["ä.bin", "a/b", 10 * MB])
    expect((await data.arrayBuffer()).byteLength).toBe(10 * MB)
    expect(meta).toMatchObject({ source: "local", operationId: "files.download" })
  })

  test("receives bytes and files of calls that share a request", async () => {
    const own = await client()

    const [whole, file] = await Promise.all([
      own.files.whole(new Uint8Array([1, 2])),
      own.files.download({ length: 3, name: "n" }),
    ])

    expect(whole.data).toEqual(new Uint8Array([2, 1]))
    expect([file.data.name, await file.data.text()]).toEqual(["n", "\u0007\u0007\u0007"])
  })

  test("sees the error of an upload, and that a stream cannot be sent again", async () => {
    let requests = 0
    const own = await client({
      retries: 2,
      fetch: (input, init) => {
        requests++
        if (requests === 1)
          throw Object.assign(new TypeError("x"), { cause: { code: "ECONNREFUSED" } })
        return fetch(input, init)
      },
    })
    const stream = toFile(repeated(MB))

    await expect(own.files.upload({ title: "T", file: stream })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    })
    expect(requests).toBe(1)
    const large = new Blob([new Uint8Array(65 * MB)])
    await expect(own.files.upload({ title: "T", file: large })).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
    await expect(own.files.upload({ file: new Blob([]) } as never)).rejects.toThrow(
      "/title is required",
    )
  })

  test("reports a download that breaks off", async () => {
    const own = await client()

    const { data } = await own.files.broken({})

    await expect(data.arrayBuffer()).rejects.toThrow("terminated")
  })
})
