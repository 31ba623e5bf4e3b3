// Clients that leave in the middle: their handlers stop with the connection, not after some time.

import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { Type } from "typebox"
import { describe, expect, onTestFinished, test } from "vitest"
import { createHTTPTransport } from "../../../src/http.ts"
import { createClient, createRegistry, defineOperation, isCallError } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { FileStream, toFile } from "../../../src/type.ts"
import { waitFor } from "../../support/wait-for.ts"

const base = {
  namespace: "demo",
  description: "Of a test",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
} as const

/** Operations that never end, what happened to them, and a client. */
async function open() {
  const log: string[] = []
  const stop = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      log.push("began")
      signal.addEventListener("abort", () => {
        log.push("stopped")
        reject(new Error("stopped"))
      })
    })
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (log.push("began"); ;) yield new Uint8Array(65_536)
    } finally {
      log.push("stopped")
    }
  }
  const registry = createRegistry([
    defineOperation({ ...base, name: "call", type: "mutation", handler: (_, c) => stop(c.signal) }),
    defineOperation({
      ...base,
      name: "stream",
      type: "subscription",
      async *handler(_, { signal }) {
        yield 1
        await stop(signal)
      },
    }),
    defineOperation({
      ...base,
      name: "upload",
      type: "mutation",
      inputSchema: Type.Object({ file: FileStream() }),
      handler: async ({ file }, { signal }) => {
        // A connection that nobody reads from does not tell that it ended.
        file
          .stream()
          .pipeTo(new WritableStream())
          .catch(() => undefined)
        await stop(signal)
      },
    }),
    defineOperation({
      ...base,
      name: "download",
      type: "query",
      inputSchema: Type.Object({}),
      outputSchema: FileStream(),
      handler: () => toFile(endless()),
    }),
    defineOperation({
      ...base,
      name: "text",
      type: "query",
      inputSchema: Type.Object({}),
      outputSchema: FileStream(),
      handler: () => toFile("all of it"),
    }),
  ])
  const api = toHTTP(registry, { logger: silentLogger, maxUploadBytes: 2 ** 30 })
  const http = createServer((request, response) => api.node(request, response))
  const sockets = new Set<Socket>()
  // Node replaces the connection of a request that is aborted: only the first one is of interest.
  http.once("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => {
      sockets.delete(socket)
      void turn()
        .then(() => turn())
        .then(() => log.push("two turns later"))
    })
  })
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const client = createClient<typeof registry>(createHTTPTransport(url))
  onTestFinished(async () => {
    await client.close()
    await api.close()
    http.closeAllConnections()
    http.close()
    await registry.close()
  })
  return { client, log, sockets }
}

type Opened = Awaited<ReturnType<typeof open>>

/** What is still running; rejects when it was stopped. */
const KINDS: Readonly<
  Record<string, (client: Opened["client"], signal: AbortSignal) => Promise<unknown>>
> = {
  call: (client, signal) => client.demo.call({}, { signal }),
  stream: async (client, signal) => {
    for await (const _item of client.subscribe("demo.stream", {}, { signal }));
  },
  upload: (client, signal) => client.demo.upload({ file: toFile(forever()) }, { signal }),
  download: async (client) => {
    const { data } = await client.demo.download({})
    const reader = data.stream().getReader()
    for (let done = false; !done;) ({ done } = await reader.read())
  },
}

async function* forever(): AsyncGenerator<Uint8Array> {
  for (;;) {
    await turn()
    yield new Uint8Array(65_536)
  }
}

describe.each(Object.entries(KINDS))("a client that leaves during a %s", (kind, run) => {
  // A download is left by whoever reads it: see below.
  const ways = ["lost", "closed", ...(kind === "download" ? [] : ["aborted"])] as const

  test.each(ways)("and is %s stops the handler at once", async (how) => {
    const { client, log, sockets } = await open()
    const controller = new AbortController()
    const failed = run(client, controller.signal).then(
      () => "an end",
      (error: unknown) => (isCallError(error) ? error.code : error),
    )
    await waitFor(() => expect(log).toEqual(["began"]))

    if (how === "aborted") controller.abort()
    else if (how === "closed") await client.close()
    else for (const socket of sockets) socket.destroy()

    await waitFor(() => expect(log).toContain("two turns later"))
    expect(log).toEqual(["began", "stopped", "two turns later"])
    // Whoever reads a file sees what the platform says of its connection.
    const isCut = how === "lost" && kind === "download"
    expect(String(await failed)).toMatch(isCut ? /terminated/ : /^(?:ABORTED|UNAVAILABLE)$/)
  })
})

describe("a download", () => {
  test("stops when its reader leaves", async () => {
    const { client, log } = await open()
    const { data } = await client.demo.download({})
    const reader = data.stream().getReader()
    await reader.read()

    await reader.cancel()

    await waitFor(() => expect(log).toContain("stopped"))
  })

  test("that was read leaves nothing to stop", async () => {
    const { client } = await open()
    const { data } = await client.demo.text({})
    expect(await data.text()).toBe("all of it")
    await expect(client.close()).resolves.toBeUndefined()
  })
})
