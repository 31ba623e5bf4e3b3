import { readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { createServer, request as sendRequest } from "node:http"
import { createSecureServer } from "node:http2"
import type { AddressInfo, Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Type } from "typebox"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { toHTTP } from "../../src/to-http.ts"
import { serveWebSocket } from "../../src/websocket.ts"
import { createServed } from "../fixtures/browser/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import type { Clock } from "../../src/index.ts"
import { launchBrowser } from "../support/browser.ts"
import type { Browser, Page } from "../support/browser.ts"
import { CHROMIUM, provideProgram } from "../support/programs.ts"
import { waitFor } from "../support/wait-for.ts"

const MB = 1024 * 1024
const PAGE = "<!doctype html><link rel=icon href=data:,><script type=module src=/page.js></script>"
const root = fileURLToPath(new URL("../..", import.meta.url))

async function bundle(
  entry: { readonly file: URL } | { readonly source: string },
  folder: string = root,
) {
  const { outputFiles, metafile } = await build({
    ...("file" in entry
      ? { entryPoints: [fileURLToPath(entry.file)] }
      : { stdin: { contents: entry.source, resolveDir: folder, loader: "ts" } }),
    absWorkingDir: folder,
    preserveSymlinks: folder !== root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    logLevel: "silent",
  })
  const [output] = Object.values(metafile.outputs)
  return {
    text: outputFiles[0]?.text ?? "",
    /** The files of which something is left, with its bytes. */
    parts: new Map(
      Object.entries(output?.inputs ?? {})
        .map(([file, { bytesInOutput }]) => [file, bytesInOutput] as const)
        .filter(([, bytes]) => bytes > 0),
    ),
  }
}

/** The files of a program whose parts are loaded on demand, by their paths on a server. */
async function split(file: URL): Promise<[path: string, text: string][]> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(file)],
    bundle: true,
    splitting: true,
    write: false,
    outdir: "/",
    format: "esm",
    platform: "browser",
    logLevel: "silent",
  })
  return outputFiles.map(({ path, text }) => [path, text])
}

/** A server for pages and calls, with what its handlers went through. */
async function serve(files: ReadonlyMap<string, string>, port = 0, clock?: Clock) {
  const { registry, seen } = createServed()
  const blocked: (() => void)[] = []
  const api = toHTTP(registry, {
    basePath: "/http",
    logger: silentLogger,
    allowedHosts: ["*"],
    maxUploadBytes: 64 * MB,
  })
  const server = createServer((request, response) => {
    const { pathname: url } = new URL(request.url ?? "/", "http://localhost")
    if (url.startsWith("/http/")) {
      api.node(request, response)
      return
    }
    // A page that asks for it synchronously does nothing else until it is released.
    if (url === "/block") {
      blocked.push(() => response.end())
      return
    }
    const text = files.get(url)
    const type = url.endsWith(".js") ? "text/javascript" : "text/html"
    response.writeHead(text === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` })
    response.end(text)
  })
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const calls = await serveWebSocket(registry, { server, path: "/calls", clock })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    seen,
    calls,
    blocked,
    port: (server.address() as AddressInfo).port,
    /** As a process that is killed: no goodbyes. */
    async die() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
      await calls.close()
      await api.close()
      await registry.close()
    },
  }
}

/** A proxy that speaks HTTP/2 with browsers, and HTTP/1.1 with a server. */
async function startProxy(port: number) {
  const pem = (name: string): Buffer => readFileSync(join(root, "test/fixtures/tls", name))
  const proxy = createSecureServer({ key: pem("key.pem"), cert: pem("cert.pem") })
  const versions = new Set<string>()
  proxy.on("request", (incoming, outgoing) => {
    versions.add(incoming.httpVersion)
    const headers = Object.entries(incoming.headers).filter(([name]) => !name.startsWith(":"))
    const { method, url: path } = incoming
    const upstream = sendRequest(
      { port, method, path, headers: { ...Object.fromEntries(headers), host: incoming.authority } },
      (answer) => {
        const {
          connection: _,
          "transfer-encoding": __,
          "keep-alive": ___,
          ...rest
        } = answer.headers
        outgoing.writeHead(answer.statusCode ?? 502, rest)
        answer.on("error", () => outgoing.stream.close())
        answer.pipe(outgoing)
      },
    )
    upstream.on("error", () => outgoing.stream.close())
    outgoing.on("close", () => upstream.destroy())
    incoming.pipe(upstream)
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  return {
    versions,
    url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close: () => proxy.close(),
  }
}

describe("the client for browsers", () => {
  const client = `
    export { createClient } from "./src/index.ts"
    export { createWebSocketTransport } from "./src/websocket.ts"`

  test("leaves the schema compiler and the server out of a bundle", async () => {
    const { parts } = await bundle({ source: client })
    const foreign = [...parts.keys()].filter((file) =>
      /typebox|src\/schema\/(?!describe|files|json)|src\/engine\/kernel|src\/serve\//.test(file),
    )
    expect(foreign).toEqual([])
  })

  test("is small", async () => {
    const { text } = await bundle({ source: client })
    expect(gzipSync(text).length).toBeLessThan(25_150)
  })

  test("over HTTP is small, too", async () => {
    const source = client.replace("createWebSocketTransport", "createHTTPTransport")
    const { text, parts } = await bundle({ source: source.replace("websocket.ts", "http.ts") })
    // In one file, with what a page would load on demand: files, event streams, and answers to questions.
    expect(gzipSync(text).length).toBeLessThan(26_480)
    expect([...parts.keys()].filter((file) => file.includes("websocket"))).toEqual([])
  })

  test("needs no package that is for servers", async () => {
    const folder = await mkdtemp(join(tmpdir(), "operations-bundle-"))
    try {
      // As in a project of a browser: this package, what it depends on and what is built into it, and
      // not what it may use.
      await mkdir(join(folder, "node_modules/@noble"), { recursive: true })
      const packages = ["typebox", "js-yaml", "eventsource-parser", "@noble/hashes"]
      for (const path of [
        "src",
        "package.json",
        ...packages.map((name) => `node_modules/${name}`),
      ]) {
        await symlink(join(root, path), join(folder, path))
      }
      expect((await bundle({ source: client }, folder)).text).toContain("WebSocket")
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

const chromium = provideProgram(CHROMIUM)

describe.skipIf(chromium === undefined)("a registry called from Chromium", () => {
  let server: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let page: Page
  const files = new Map([["/", PAGE]])
  const ask = (scenario: string, ...args: unknown[]): Promise<unknown> =>
    page.evaluate(`scenarios.${scenario}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`)
  const forget = (): void => {
    server.seen.started = 0
    server.seen.ended.length = 0
  }

  beforeAll(async () => {
    files.set(
      "/page.js",
      (await bundle({ file: new URL("../fixtures/browser/page.ts", import.meta.url) })).text,
    )
    files.set(
      "/worker.js",
      (await bundle({ file: new URL("../fixtures/browser/worker.ts", import.meta.url) })).text,
    )
    server = await serve(files)
    browser = await launchBrowser(chromium as string)
    page = await browser.open(`http://127.0.0.1:${server.port}/`)
  })

  afterAll(async () => {
    await browser?.close()
    await server?.die()
  })

  test("answers a call", async () => {
    expect(await ask("call")).toEqual({ data: { text: "Hello, Ada" } })
  })

  test("reports the issues of an input, and suggests a similar operation", async () => {
    expect(await ask("invalid")).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("/name must be string"),
    })
    expect(await ask("unknown")).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: expect.stringContaining('Did you mean "demo.greet"?'),
    })
  })

  test("passes a declared error on with its code and details", async () => {
    expect(await ask("error")).toMatchObject({
      code: "SOLD_OUT",
      details: { sku: "tea", left: 0 },
    })
  })

  test("carries bytes both ways", async () => {
    expect(await ask("bytes")).toEqual({ isBytes: true, bytes: [255, 254, 1, 0] })
  })

  test("streams to the end, further than one window", async () => {
    forget()
    expect(await ask("stream", 5000)).toEqual({ count: 5000, isInOrder: true })
    expect(server.seen).toEqual({ started: 1, ended: ["count completed"] })
  })

  test("stops a stream's handler when the page leaves the loop", async () => {
    forget()
    expect(await ask("leave")).toBe(5)
    await waitFor(() => expect(server.seen).toEqual({ started: 1, ended: ["count stopped"] }))
  })

  test("stops a call's handler when the page aborts, and when the deadline passes", async () => {
    forget()
    expect(await ask("abort")).toMatchObject({ code: "ABORTED" })
    await waitFor(() => expect(server.seen).toEqual({ started: 1, ended: ["hang stopped"] }))
    expect(await ask("deadline")).toMatchObject({ code: "TIMEOUT" })
    await waitFor(() => expect(server.seen.ended).toEqual(["hang stopped", "hang stopped"]))
  })

  test("fails pending calls with UNAVAILABLE when a server dies, and continues with its successor", async () => {
    forget()
    await ask("hold")
    expect(server.seen.started).toBe(2)
    const { seen, port } = server
    await server.die()
    expect(await ask("held")).toEqual({
      call: expect.objectContaining({ code: "UNAVAILABLE", mayHaveExecuted: true }),
      stream: { code: "UNAVAILABLE", isInOrder: true },
    })
    await waitFor(() => expect(seen.ended.toSorted()).toEqual(["count stopped", "hang stopped"]))

    server = await serve(files, port)
    await waitFor(async () => expect(await ask("call")).toEqual({ data: { text: "Hello, Ada" } }))
    expect(await ask("stream", 1000)).toEqual({ count: 1000, isInOrder: true })
    expect(server.seen).toEqual({ started: 1, ended: ["count completed"] })
  })

  test("works the same with a registry in a Web Worker", async () => {
    expect(await ask("worker")).toEqual({
      greeting: { data: { text: "Hello, Ada" } },
      error: expect.objectContaining({ code: "SOLD_OUT", details: { sku: "tea", left: 0 } }),
      bytes: [3, 2, 1],
      items: 1000,
      aborted: expect.objectContaining({ code: "ABORTED" }),
      seen: { started: 3, ended: ["count completed", "count stopped", "hang stopped"] },
      held: expect.objectContaining({ code: "ABORTED" }),
    })
  })

  test("a page that goes away ends what it asked for", async () => {
    forget()
    await ask("hold")
    expect(server.seen.started).toBe(2)
    await page.evaluate("location.href = 'about:blank'")
    await waitFor(() =>
      expect(server.seen.ended.toSorted()).toEqual(["count stopped", "hang stopped"]),
    )
  })

  test("a page that comes back from the back/forward cache reconnects automatically", async () => {
    server.seen.ended.length = 0
    await page.evaluate("history.back()")
    await waitFor(async () => expect(await page.evaluate("restored")).toBe(true))

    expect(await ask("held")).toEqual({
      call: expect.objectContaining({ code: "UNAVAILABLE", mayHaveExecuted: true }),
      stream: { code: "UNAVAILABLE", isInOrder: true },
    })
    expect(await ask("call")).toEqual({ data: { text: "Hello, Ada" } })
    expect(await ask("stream", 1000)).toEqual({ count: 1000, isInOrder: true })
    // The stream that was held is requested again, but its handler cannot resume it.
    expect(server.seen.ended).toEqual(["count stopped", "count completed"])
    expect(server.calls.connections).toBe(1)
  })

  test("a frozen page disconnects, and reconnects when it is resumed", async () => {
    forget()
    await ask("hold")
    await page.send("Page.setWebLifecycleState", { state: "frozen" })
    await waitFor(() =>
      expect(server.seen.ended.toSorted()).toEqual(["count stopped", "hang stopped"]),
    )
    expect(server.calls.connections).toBe(0)

    await page.send("Page.setWebLifecycleState", { state: "active" })
    expect(await ask("held")).toMatchObject({ call: { code: "UNAVAILABLE" } })
    expect(await ask("call")).toEqual({ data: { text: "Hello, Ada" } })
  })

  test("a page whose program stopped is given up, though the browser answers for its socket", async () => {
    const clock = new VirtualClock()
    const slow = await serve(files, 0, clock)
    const stuck = await browser.open(`http://127.0.0.1:${slow.port}/`)
    try {
      await stuck.evaluate("scenarios.hold()")
      for (let at = 0; at < 10; at++) {
        await clock.runTo(clock.time + 30_000)
        // What the page sends after its answer to the ping.
        await stuck.evaluate("scenarios.call()")
      }
      expect(slow.seen.ended).toEqual([])

      const block = `{
        const request = new XMLHttpRequest()
        request.open("GET", "/block", false)
        request.send()
      }`
      const released = stuck.evaluate(block)
      await waitFor(() => expect(slow.blocked).toHaveLength(1))
      for (let at = 0; at < 3; at++) {
        await clock.runTo(clock.time + 30_000)
        // Long enough for the browser to answer pings of sockets.
        await page.evaluate("fetch('/')")
      }
      expect(slow.calls.connections).toBe(0)
      await waitFor(() =>
        expect(slow.seen.ended.toSorted()).toEqual(["count stopped", "hang stopped"]),
      )

      slow.blocked[0]?.()
      await released
      // Until the page has noticed the loss, a call fails as not sent.
      await expect
        .poll(() => stuck.evaluate("scenarios.call()"))
        .toEqual({ data: { text: "Hello, Ada" } })
    } finally {
      await slow.die()
    }
  })

  test("nothing in the page went uncaught", () => {
    const own = page.faults.filter((fault) => !fault.includes("ERR_CONNECTION_REFUSED"))
    expect(own).toEqual([])
  })
})

describe.skipIf(chromium === undefined)("the example of a page", () => {
  test("calls over HTTP", async () => {
    const shout = defineOperation({
      namespace: "text",
      name: "shout",
      type: "query",
      description: "Makes a text loud",
      inputSchema: Type.Object({ text: Type.String() }),
      outputSchema: Type.String(),
      accessControl: { requiredScopes: [] },
      handler: ({ text }) => text.toUpperCase(),
    })
    const script = await bundle({
      file: new URL("../../examples/browser/http.ts", import.meta.url),
    })
    const api = toHTTP(createRegistry([shout]), { basePath: "/api", logger: silentLogger })
    const server = createServer((request, response) => {
      if (request.url?.startsWith("/api/") === true) return api.node(request, response)
      const isScript = request.url === "/page.js"
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" })
      response.end(isScript ? script.text : PAGE)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const browser = await launchBrowser(chromium as string)
    try {
      const page = await browser.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      await waitFor(async () => expect(await page.evaluate("document.title")).toBe("HELLO"))
    } finally {
      await browser.close()
      server.closeAllConnections()
      server.close()
      await api.close()
    }
  })
})

describe.skipIf(chromium === undefined).each(["HTTP/1.1", "an HTTP/2 proxy"])(
  "a registry called from Chromium over %s",
  (way) => {
    let server: Awaited<ReturnType<typeof serve>>
    let proxy: Awaited<ReturnType<typeof startProxy>>
    let browser: Browser
    let page: Page
    const ask = (scenario: string, ...args: unknown[]): Promise<unknown> =>
      page.evaluate(`scenarios.${scenario}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`)

    beforeAll(async () => {
      const script = await split(new URL("../fixtures/browser/page.ts", import.meta.url))
      server = await serve(new Map([["/", PAGE], ...script]))
      proxy = await startProxy(server.port)
      browser = await launchBrowser(chromium as string, ["--ignore-certificate-errors"])
      const origin = way === "HTTP/1.1" ? `http://127.0.0.1:${server.port}` : proxy.url
      page = await browser.open(`${origin}/?http`)
    })

    afterAll(async () => {
      await browser?.close()
      proxy?.close()
      await server?.die()
    })

    test("answers calls with results, errors and bytes", async () => {
      expect(await ask("call")).toEqual({ data: { text: "Hello, Ada" } })
      expect(await ask("invalid")).toMatchObject({ code: "VALIDATION_ERROR" })
      expect(await ask("error")).toMatchObject({
        code: "SOLD_OUT",
        details: { sku: "tea", left: 0 },
      })
      expect(await ask("bytes")).toEqual({ isBytes: true, bytes: [255, 254, 1, 0] })
      expect([...proxy.versions]).toEqual(way === "HTTP/1.1" ? [] : ["2.0"])
    })

    test.each([1000, 3 * MB])("takes a File, a Blob and a form with %i bytes", async (bytes) => {
      const file = { name: "ä.png", type: "image/png", bytes, sum: bytes }
      expect(await ask("upload", bytes)).toEqual([
        { data: { title: "a file", ...file } },
        { data: { title: "a blob", bytes, sum: bytes, name: "", type: expect.any(String) } },
      ])
      expect(await ask("form", bytes)).toEqual({ title: "a form", ...file })
    })

    test("downloads a file, and stops the download when the page leaves it", async () => {
      server.seen.ended.length = 0
      const file = ["ä.bin", "application/x-demo", 3 * MB]
      expect(await ask("download", 3 * MB)).toEqual(file)
      await ask("leaveFile")
      await waitFor(() => expect(server.seen.ended).toEqual(["load completed", "load stopped"]))
    })

    test("streams to the end, and stops the handler of a stream that the page leaves", async () => {
      server.seen.ended.length = 0
      expect(await ask("stream", 2000)).toEqual({ count: 2000, isInOrder: true })
      expect(await ask("leave")).toBe(5)
      await waitFor(() => expect(server.seen.ended).toEqual(["count completed", "count stopped"]))
    })

    test("stops a call's handler when the page aborts, and when the deadline passes", async () => {
      server.seen.ended.length = 0
      expect(await ask("abort")).toMatchObject({ code: "ABORTED" })
      await waitFor(() => expect(server.seen.ended).toEqual(["hang stopped"]))
      expect(await ask("deadline")).toMatchObject({ code: "TIMEOUT" })
      await waitFor(() => expect(server.seen.ended).toEqual(["hang stopped", "hang stopped"]))
    })

    test("a page that goes away ends what it asked for", async () => {
      server.seen.started = 0
      server.seen.ended.length = 0
      await ask("hold")
      await ask("holdFile")
      // The stream and the call are two requests, and either may come first.
      await waitFor(() => expect(server.seen.started).toBe(3))
      await page.evaluate("location.href = 'about:blank'")
      await waitFor(() =>
        expect(server.seen.ended.toSorted()).toEqual([
          "count stopped",
          "hang stopped",
          "load stopped",
        ]),
      )
    })
  },
)
