import { describe, expect, onTestFinished, test } from "vitest"
import { Type } from "typebox"
import { defineOperation } from "../../../../src/core/define.ts"
import { createRegistry } from "../../../../src/engine/registry.ts"
import { silentLogger } from "../../../../src/internal/logger.ts"
import { serveHTTP } from "../../../../src/node.ts"
import { Bytes, FileStream, toFile } from "../../../../src/type.ts"
import { createClient } from "../../../../src/index.ts"
import { createWebSocketTransport } from "../../../../src/websocket.ts"
import { fileOperations, fileRegistry } from "./files.ts"

async function served(registry = fileRegistry() as never): Promise<string> {
  const server = await serveHTTP(registry, { port: 0, logger: silentLogger })
  onTestFinished(() => server.close())
  return server.url.replace(/\/$/, "")
}

const query = (values: Record<string, string | number>): string =>
  new URLSearchParams(Object.entries(values).map(([key, value]) => [key, String(value)])).toString()

describe("a file as the result of a call over REST", () => {
  test("is the body of the response, with its type, name and length", async () => {
    const url = await served()
    const asked = query({ length: 200_000, name: "a b.png", type: "image/png", size: 200_000 })

    const response = await fetch(`${url}/api/files/download?${asked}`)

    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": 'inline; filename="a b.png"',
      "content-length": "200000",
      "x-content-type-options": "nosniff",
    })
    expect((await response.arrayBuffer()).byteLength).toBe(200_000)
  })

  test.each([
    ["text/html", "page.html"],
    ["image/svg+xml", "a.svg"],
    ["application/xhtml+xml", "a.xhtml"],
    ["text/javascript", "a.js"],
    ["", "unknown"],
  ])("is saved, and not shown, if its type is %s", async (type, name) => {
    const url = await served()

    const response = await fetch(`${url}/api/files/download?${query({ length: 3, name, type })}`)

    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${name}"`)
    expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  })

  test.each([
    ['a"b\\c.png', `inline; filename="c.png"`],
    ["../../x.png", `inline; filename="x.png"`],
    ["ä €.png", `inline; filename="_ _.png"; filename*=UTF-8''%C3%A4%20%E2%82%AC.png`],
    ["a\r\nx-evil: 1.png", `inline; filename="ax-evil: 1.png"`],
    ["..", "inline"],
    ["100%.png", `inline; filename="100_.png"; filename*=UTF-8''100%25.png`],
  ])("has a safe name, made from %j", async (name, expected) => {
    const url = await served()
    const asked = query({ length: 3, name, type: "image/png" })

    const response = await fetch(`${url}/api/files/download?${asked}`)

    expect(response.headers.get("content-disposition")).toBe(expected)
    expect(response.headers.has("x-evil")).toBe(false)
  })

  test("has a type that cannot add headers", async () => {
    const url = await served()
    const asked = query({ length: 3, type: "text/plain\r\nx-evil: 1" })

    const response = await fetch(`${url}/api/files/download?${asked}`)

    expect(response.headers.get("content-type")).toBe("application/octet-stream")
    expect(response.headers.has("x-evil")).toBe(false)
  })

  test("breaks the connection when it cannot be read to its end, or is not as long as it says", async () => {
    const url = await served()
    const read = async (path: string): Promise<unknown> =>
      await fetch(`${url}${path}`).then((response) => response.arrayBuffer())

    await expect(read("/api/files/broken")).rejects.toThrow(/terminated|fetch failed/)
    await expect(read("/api/files/download?length=10&size=20")).rejects.toThrow(
      /terminated|fetch failed/,
    )
    await expect(read("/api/files/download?length=20&size=10")).rejects.toThrow(
      /terminated|fetch failed/,
    )
  })

  test("is not read for HEAD, and no longer read when the client leaves", async () => {
    let isClosed = 0
    const slow = defineOperation({
      ...fileOperations[0],
      name: "slow",
      type: "query",
      inputSchema: Type.Object({}),
      outputSchema: FileStream(),
      handler: () =>
        toFile(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
            cancel: () => void isClosed++,
          }),
        ),
    })
    const url = await served(createRegistry([slow]) as never)

    const head = await fetch(`${url}/api/files/slow`, { method: "HEAD" })
    const left = new AbortController()
    const response = await fetch(`${url}/api/files/slow`, { signal: left.signal })
    left.abort()

    expect([head.status, response.status]).toEqual([200, 200])
    await expect.poll(() => isClosed).toBe(2)
  })

  test("is base64 text inside other data", async () => {
    const mixed = defineOperation({
      ...fileOperations[0],
      name: "mixed",
      type: "query",
      inputSchema: Type.Object({}),
      outputSchema: Type.Object({ file: FileStream(), bytes: Bytes() }),
      handler: () => ({ file: toFile("abc"), bytes: new Uint8Array([1]) }),
    })
    const url = await served(createRegistry([mixed]) as never)

    const response = await fetch(`${url}/api/files/mixed`)

    expect(await response.json()).toEqual({ file: btoa("abc"), bytes: "AQ==" })
  })

  test("is JSON with base64 in an envelope of the gateway, and the body where data is preferred", async () => {
    const url = await served()
    const body = JSON.stringify({ length: 3, name: "a.bin", type: "a/b" })
    const init = { method: "POST", body, headers: { "content-type": "application/json" } }

    const envelope = await fetch(`${url}/operations/files.download`, init)
    const bare = await fetch(`${url}/operations/files.download?unwrap`, init)

    expect(await envelope.json()).toMatchObject({
      data: "BwcH",
      binary: { "": { name: "a.bin", type: "a/b" } },
    })
    expect(new Uint8Array(await bare.arrayBuffer())).toEqual(new Uint8Array([7, 7, 7]))
  })

  test("is too large for an envelope beyond 64 MiB, which says where to get it", async () => {
    const url = await served()
    const body = JSON.stringify({ length: 65 * 1024 * 1024 })

    const response = await fetch(`${url}/operations/files.download`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    })

    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining("over HTTP") })
  })
})

describe("a file that is too large for a message", () => {
  const tooLarge = () => toFile(new ReadableStream(), { size: 64 * 1024 * 1024 + 1 })
  const base = {
    description: "d",
    inputSchema: Type.Object({}),
    accessControl: { requiredScopes: [] },
  }
  const inObject = Type.Object({ file: FileStream() })
  const registry = createRegistry({
    big: {
      make: defineOperation({
        ...base,
        type: "mutation",
        outputSchema: inObject,
        handler: () => ({ file: tooLarge() }),
      }),
      watch: defineOperation({
        ...base,
        type: "subscription",
        outputSchema: inObject,
        handler: async function* () {
          yield await Promise.resolve({ file: tooLarge() })
        },
      }),
    },
  })
  const ask = async (url: string, body: unknown = {}): Promise<unknown> => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
    const text = await response.text()
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
  }

  test.each<[string, (url: string) => Promise<unknown>]>([
    ["REST", (url) => ask(`${url}/api/big/make`)],
    ["the gateway", (url) => ask(`${url}/operations/big.make`)],
    [
      "a batch",
      async (url) => {
        const answer = await ask(`${url}/batch`, [{ id: "big.make", input: {} }])
        return (answer as { results: { problem: unknown }[] }).results[0]?.problem
      },
    ],
    ["an event stream", (url) => ask(`${url}/operations/big.watch`)],
  ])("ends a call over %s with an error that does not deny its effect", async (_name, call) => {
    expect(await call(await served(registry as never))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      mayHaveExecuted: true,
    })
  })

  test("ends the stream of a WebSocket in the same way", async () => {
    const address = `${(await served(registry as never)).replace("http", "ws")}/ws`
    await using client = createClient(createWebSocketTransport(address, { logger: silentLogger }))
    await expect(client.subscribe("big.watch", {}).next()).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      mayHaveExecuted: true,
    })
  })
})
