import { createServer } from "node:http"
import type { RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, test, vi } from "vitest"
import { RemoteTarget } from "../../../src/cli/target/remote.ts"
import type { Target } from "../../../src/cli/model.ts"
import { redactText } from "../../../src/internal/redact.ts"
import type { InputResponse } from "../../../src/index.ts"
import { serveHTTP } from "../../../src/node.ts"
import type { ServeHTTPOptions } from "../../../src/node.ts"
import { hashApiKey } from "../../../src/to-http.ts"
import { hubRegistry } from "../support/hub-operations.ts"
import { testIO } from "../support/run.ts"

const KEY = "canary-key-0123456789"
const signal = new AbortController().signal

describe("a remote hub as a target", () => {
  test("is listed to its end, however many operations it has", async () => {
    await using hub = await serve({}, 1203)
    const { operations, total } = await hub.target.list({ namespace: "many", limit: 2 })

    expect(total).toBe(1203)
    expect(operations.map(({ id }) => id)).toEqual(["many.n0000", "many.n0001"])
    expect((await hub.target.list({ type: "subscription" })).operations).toHaveLength(2)
    expect((await hub.target.list({ query: "task" })).operations[0]?.id).toMatch(/^task\./)
  })

  test("gives specs by id and by the end of an id", async () => {
    await using hub = await serve()

    for (const name of ["task.create", "create", "TASK/create"]) {
      expect(await hub.target.find(name)).toMatchObject({ namespace: "task", name: "create" })
    }
    await expect(hub.target.find("task.creat")).rejects.toThrow(
      'Operation "task.creat" is not registered. Did you mean "task.create"?',
    )
    await expect(hub.target.find("../health")).rejects.toMatchObject({
      code: "OPERATION_NOT_FOUND",
    })
    await expect(hub.target.find("")).rejects.toMatchObject({ code: "OPERATION_NOT_FOUND" })
  })

  test("calls, with envelopes and bytes as they are", async () => {
    await using hub = await serve()

    const envelope = await hub.target.execute("task.create", { title: "Milk" }, { signal })
    expect(envelope).toMatchObject({ data: { id: 1, title: "Milk" }, meta: { source: "local" } })
    const { data } = await hub.target.execute("file.bytes", undefined, { signal })
    expect(data).toEqual(new Uint8Array([0, 255, 10, 13]))
  })

  test("asks the caller over a WebSocket, and reports progress", async () => {
    const auth = { apiKeys: [{ hash: hashApiKey(KEY), identity: { id: "ada", scopes: [] } }] }
    await using hub = await serve({ auth, websocket: true }, 0, KEY)
    const progress = vi.fn()
    const answer: InputResponse = { action: "accept", content: { name: "Ada" } }
    const requestInput = vi.fn(async () => answer)
    const options = { signal, progress, requestInput }

    const { data } = await hub.target.execute("user.ask", {}, options)
    expect(data).toEqual({ answer, id: "ada" })
    expect(requestInput.mock.calls).toEqual([
      [{ message: "Who are you?", schema: { type: "object" } }],
    ])
    expect(progress.mock.calls).toEqual([[{ progress: 1, total: 2 }]])
    await expect(hub.target.execute("task.create", {}, options)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test.each([
    ["a hub without WebSockets", { websocket: false }, KEY],
    ["a wrong key", { websocket: true }, "canary-wrong-0123456789"],
  ])("is called over HTTP, where nobody is asked: %s", async (_name, options, key) => {
    const auth = { apiKeys: [{ hash: hashApiKey(KEY), identity: { id: "ada", scopes: [] } }] }
    await using hub = await serve({ auth, ...options }, 0, key)
    const requestInput = vi.fn()

    await expect(
      hub.target.execute("user.ask", {}, { signal, requestInput }),
    ).rejects.toMatchObject({ code: key === KEY ? "UNAVAILABLE" : "UNAUTHENTICATED" })
    expect(requestInput).not.toHaveBeenCalled()
  })

  test("gives large results to callers that may be asked, too", async () => {
    await using hub = await serve({ websocket: true })
    const options = { signal, requestInput: vi.fn() }
    for (const length of [3_000_000, 17_000_000]) {
      await hub.target.find("file.much")
      const { data } = await hub.target.execute("file.much", { length }, options)
      expect((data as string).length).toBe(length)
    }
    const file = new File(["abc".repeat(100_000)], "a.txt")
    await expect(hub.target.execute("task.create", { file }, options)).rejects.toThrow(
      "Send the body as",
    )
  })

  test("reports errors as the hub does", async () => {
    await using hub = await serve()

    await expect(hub.target.execute("task.create", {}, { signal })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("/title is required") as string,
      details: { errors: [expect.objectContaining({ path: "/title" })] },
      mayHaveExecuted: false,
    })
    await expect(hub.target.execute("task.fail", {}, { signal })).rejects.toMatchObject({
      code: "EXECUTION_ERROR",
    })
  })

  test("streams items, and the error that ends them", async () => {
    await using hub = await serve()
    const items: unknown[] = []
    for await (const { data } of hub.target.subscribe("clock.ticks", { to: 3 }, { signal })) {
      items.push(data)
    }
    expect(items).toEqual([1, 2, 3])

    const broken = hub.target.subscribe("clock.ticks", { to: 5, failAt: 2 }, { signal })
    await expect(collect(broken)).rejects.toMatchObject({ code: "EXECUTION_ERROR" })
  })

  test("a stream ends when its signal fires, and the producer with it", async () => {
    await using hub = await serve()
    const stop = new AbortController()
    const stream = hub.target.subscribe("clock.endless", {}, { signal: stop.signal })
    const iterator = stream[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toMatchObject({ data: "first" })
    const next = iterator.next()
    stop.abort("SIGINT")

    await expect(next).rejects.toMatchObject({ code: "ABORTED" })
  })

  test("leaving the loop ends the stream: the hub closes without waiting for it", async () => {
    const hub = await serve()
    for await (const { data } of hub.target.subscribe("clock.endless", {}, { signal })) {
      expect(data).toBe("first")
      break
    }

    await hub[Symbol.asyncDispose]()
  })

  test("says who calls, and what to do where that is asked for", async () => {
    const auth = { apiKeys: [{ hash: hashApiKey(KEY), identity: { id: "ada", scopes: [] } }] }
    await using known = await serve({ auth }, 0, KEY)
    expect((await known.target.execute("user.whoami", {}, { signal })).data).toBe("ada")

    await using unknown = await serve({ auth })
    const error: unknown = await unknown.target.list({}).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: "UNAUTHENTICATED" })
    // Also where what looks like a secret is masked, as with --json.
    expect(redactText(String(error))).toContain("set OPERATIONS_TOKEN")
    await using wrong = await serve({ auth }, 0, "canary-wrong-0123456789")
    await expect(wrong.target.list({})).rejects.toThrow(/^(?!.*canary)/s)
  })

  test("shows what a call would do, over HTTP and a WebSocket", async () => {
    await using hub = await serve()
    const requestInput = () => Promise.reject(new Error("Nothing is asked."))
    for (const more of [{}, { requestInput }]) {
      const options = { signal, dryRun: true, ...more }
      const { data } = await hub.target.execute("task.create", { title: "Milk" }, options)
      expect(data).toEqual({ dryRun: true, decision: "allow" })
      const wrong = hub.target.execute("task.create", {}, options)
      await expect(wrong).rejects.toMatchObject({ code: "VALIDATION_ERROR" })
    }
  })

  test("a timeout is reported as such", async () => {
    await using hub = await serve()
    const stream = hub.target.subscribe("clock.endless", {}, { signal, timeout: 1 })

    await expect(collect(stream)).rejects.toMatchObject({ code: "TIMEOUT" })
  })

  test("an unreachable hub is reported without the token", async () => {
    const target = open("http://127.0.0.1:9", KEY)

    await expect(target.list({})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/^(?!.*canary).*hub.*127\.0\.0\.1:9/s) as string,
    })
  })

  test.each<[string, RequestListener]>([
    ["a web page", (_, response) => response.end("<html>Hello</html>")],
    ["a list of something", (_, response) => response.end("[1]")],
    ["a page for what is missing", (_, response) => response.writeHead(404).end("Not found")],
    ["JSON without operations", (_, response) => response.end('{"operations":7}')],
    ["a problem without a code", (_, response) => response.writeHead(500).end('{"title":"Oh"}')],
  ])("what is no hub is called that: %s", async (_, listener) => {
    await using server = await listen(listener)

    await expect(open(server.url).list({})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/hub/) as string,
    })
  })

  test("a hub with pages without end is not listed for ever", async () => {
    let pages = 0
    await using server = await listen((request, response) => {
      if (request.url?.startsWith("/operations?") === true) pages++
      response.setHeader("content-type", "application/json")
      response.end('{"operations":[],"nextCursor":"id:x"}')
    })

    await expect(open(server.url).list({})).resolves.toMatchObject({ total: 0 })
    expect(pages).toBe(200)
  })

  test("a token is sent to no other origin", async () => {
    let leaked: string | undefined
    await using other = await listen((request, response) => {
      leaked = request.headers.authorization
      response.end("{}")
    })
    await using server = await listen((_, response) => {
      response.writeHead(307, { location: `${other.url}/operations` }).end()
    })

    await expect(open(server.url, KEY).list({})).rejects.toThrow(/^(?!.*canary)/s)
    expect(leaked).toBeUndefined()
  })
})

async function collect(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const item of items) all.push(item)
  return all
}

function open(url: string, token?: string): Target {
  return new RemoteTarget({ url, token }, testIO().signal)
}

async function serve(
  options: ServeHTTPOptions = {},
  extra = 0,
  token?: string,
): Promise<AsyncDisposable & { target: Target; url: string }> {
  const registry = hubRegistry(extra)
  const served = await serveHTTP(registry, { port: 0, websocket: false, ...options })
  return {
    url: served.url,
    target: open(served.url, token),
    async [Symbol.asyncDispose]() {
      await served.close()
      await registry.close()
    },
  }
}

async function listen(listener: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
