import { connect } from "node:net"
import { join } from "node:path"
import { once } from "node:events"
import { describe, expect, onTestFinished, test } from "vitest"
import type { OperationSummary as ConsoleSummary } from "../../console/src/api/model.ts"
import type { CallTrace } from "../../src/engine/observe.ts"
import type { ServerConfig, ResolvedSource } from "../../src/config/model.ts"
import { Activity } from "../../src/hub/activity.ts"
import type { HubStats } from "../../src/hub/activity.ts"
import { ActivityStream } from "../../src/hub/activity/stream.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import type { Hub, SourceStatus } from "../../src/hub/model.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import type { ServedHub } from "../../src/hub/serve-hub.ts"
import { refusal } from "../../src/core/errors.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { Heartbeats } from "../../src/serve/http/sse.ts"
import type { HTTPSink } from "../../src/serve/exchange.ts"
import { hashApiKey } from "../../src/to-http.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { listenTo } from "./events.ts"
import type { HubEvent } from "./events.ts"
import { configOf, folder, hubOf, operationText, sourceOf } from "./support.ts"

const ADMIN = "an-administrators-key-19ac"
const USER = "a-key-of-somebody-else-77de"
const KEYS: ServerConfig = {
  apiKeys: [
    { id: "ada", hash: hashApiKey(ADMIN), scopes: ["hub:admin"] },
    { id: "bob", hash: hashApiKey(USER), scopes: ["hub", "admin", "hub:*"] },
  ],
}
const AS_ADMIN = { authorization: `Bearer ${ADMIN}` }
const AS_USER = { "x-api-key": USER }
const OURS = ["/hub/sources", "/hub/sources/local/report", "/hub/stats", "/hub/events"]

async function serving(
  server: ServerConfig = {},
  more: Partial<ResolvedSource> = {},
): Promise<{ hub: Hub; served: ServedHub }> {
  const dir = folder({
    "word.ts": operationText("w.word", `(input) => "word " + input.secret`),
    "outer.ts": operationText(
      "w.outer",
      `async (_, context) => (await context.env.w.word({ secret: "inner" })).data`,
      `tags: ["nested"], title: "Outer"`,
    ),
    "bad.ts": operationText("w.bad", `() => { throw new Error("secret message") }`),
    "hidden.ts": operationText("w.hidden", `() => 1`, `visibility: "internal"`),
  })
  const hub = createHub(configOf([sourceOf("local", { scan: dir }, more)], { server }), {
    logger: silentLogger,
  })
  onTestFinished(() => hub.close())
  await hub.ready()
  const served = await serveHub(hub, { port: 0 })
  onTestFinished(() => served.close())
  return { hub, served }
}

const isEnd =
  (id: string) =>
  ({ event, data }: HubEvent): boolean =>
    event === "call" &&
    (data as CallTrace).phase === "end" &&
    (data as CallTrace).operationId === id

async function post(url: string, id: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/operations/${id}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: `{"secret":"hunter2"}`,
  })
  return (await response.json()) as unknown
}

describe("GET /hub/events", () => {
  test("sends the status of sources and each call with nested ones, without their data", async () => {
    const { served, hub } = await serving()
    const { events, until } = await listenTo(served.url)
    expect((await until(({ event }) => event === "source"))?.data).toEqual(hub.sources[0])
    await post(served.url, "w.outer")
    await until(isEnd("w.outer"))
    await post(served.url, "w.bad")
    await until(isEnd("w.bad"))
    const traces = events
      .filter(({ event }) => event === "call")
      .map(({ data }) => data as CallTrace)
    expect(traces.map(({ phase, operationId }) => `${phase} ${operationId}`)).toEqual([
      "start w.outer",
      "start w.word",
      "end w.word",
      "end w.outer",
      "start w.bad",
      "end w.bad",
    ])
    expect(traces[1]?.parentRequestId).toBe(traces[0]?.requestId)
    expect(traces.at(-1)).toMatchObject({ outcome: "error", code: "EXECUTION_ERROR" })
    expect(JSON.stringify(events)).not.toMatch(/hunter2|inner|secret message/)

    await hub.reopen("local")
    const isLoading = ({ event, data }: HubEvent): boolean =>
      event === "source" && (data as SourceStatus).state === "loading"
    expect(await until(isLoading)).toBeDefined()
  })

  test("ends when its reader disconnects, or when the hub is no longer served", async () => {
    const { served } = await serving()
    const first = await listenTo(served.url)
    const second = await listenTo(served.url)
    await first.until(({ event }) => event === "source")
    first.leave()
    await served.close()
    expect((await second.until(({ event }) => event === "end"))?.data).toEqual({})
    expect(await second.until(() => false)).toBeUndefined()
  })

  test("answers HEAD without a stream", async () => {
    const { served } = await serving()
    const head = await fetch(`${served.url}/hub/events`, { method: "HEAD" })
    expect([head.status, await head.text()]).toEqual([200, ""])
  })

  test("does not wait for a reader that reads nothing", async () => {
    const { served, hub } = await serving()
    const { hostname, port } = new URL(served.url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    await once(socket, "connect")
    socket.pause()
    socket.write(`GET /hub/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
    const { until } = await listenTo(served.url)
    for (let index = 0; index < 2000; index++) {
      await hub.registry.execute("w.word", { secret: "x" })
    }
    await hub.registry.execute("w.outer", {})
    expect(await until(isEnd("w.outer"))).toBeDefined()
  })
})

describe("access to the activity of a hub", () => {
  test("everyone on this machine has access without authentication", async () => {
    const { served } = await serving()
    for (const path of OURS) {
      const gone = new AbortController()
      const { status } = await fetch(served.url + path, { signal: gone.signal })
      gone.abort()
      expect([path, status]).toEqual([path, 200])
    }
  })

  test("with authentication the scope hub:admin is needed; others may list operations", async () => {
    const { served } = await serving(KEYS)
    for (const path of OURS) {
      expect((await fetch(served.url + path)).status).toBe(401)
      const refused = await fetch(served.url + path, { headers: AS_USER })
      expect(refused.status).toBe(403)
      expect(await refused.json()).toMatchObject({
        code: "ACCESS_DENIED",
        detail: expect.stringContaining(`"hub:admin"`),
        details: { requiredScopes: ["hub:admin"] },
      })
      const gone = new AbortController()
      const { status } = await fetch(served.url + path, { headers: AS_ADMIN, signal: gone.signal })
      gone.abort()
      expect([path, status]).toEqual([path, 200])
    }
    expect((await fetch(`${served.url}/hub/operations`)).status).toBe(401)
    expect((await fetch(`${served.url}/hub/operations`, { headers: AS_USER })).status).toBe(200)
  })

  test("calls include the ids of their callers", async () => {
    const { served } = await serving(KEYS)
    const { until } = await listenTo(served.url, AS_ADMIN)
    await post(served.url, "w.word", AS_USER)
    expect((await until(isEnd("w.word")))?.data).toMatchObject({ identity: "bob", outcome: "ok" })
  })
})

describe("GET /hub/stats", () => {
  test("counts calls over every protocol", async () => {
    const { served, hub } = await serving()
    await post(served.url, "w.word")
    await hub.registry.execute("w.outer", {})
    await post(served.url, "w.bad")
    const stats = (await (await fetch(`${served.url}/hub/stats`)).json()) as HubStats
    expect(stats).toMatchObject({ calls: 4, running: 0, errors: { EXECUTION_ERROR: 1 } })
    expect(stats.recent.map(({ operationId }) => operationId)).toEqual([
      "w.bad",
      "w.outer",
      "w.word",
      "w.word",
    ])
    expect(stats.history).toHaveLength(60)
    expect(JSON.stringify(stats)).not.toMatch(/hunter2|secret message/)
  })
})

describe("GET /hub/search", () => {
  test("finds the ids of what the caller may call, the best first", async () => {
    const { served } = await serving(KEYS, {
      access: [{ match: "w.bad", requiredScopes: ["hub:admin"] }],
    })
    const search = async (query: string, headers: Record<string, string>): Promise<unknown> => {
      const response = await fetch(`${served.url}/hub/search?${new URLSearchParams({ query })}`, {
        headers,
      })
      return response.ok ? await response.json() : response.status
    }
    expect(await search("outer", AS_USER)).toEqual({ ids: ["w.outer"] })
    expect(await search("w", AS_ADMIN)).toEqual({ ids: ["w.word", "w.bad", "w.outer"] })
    expect(await search("w", AS_USER)).toEqual({ ids: ["w.word", "w.outer"] })
    expect(await search("hidden", AS_ADMIN)).toEqual({ ids: [] })
    expect(await search(" ", AS_USER)).toEqual({ ids: [] })
    expect(await search("x".repeat(1001), AS_USER)).toBe(400)
    expect(await search("outer", {})).toBe(401)
  })
})

describe("GET /hub/operations", () => {
  test("lists every operation that the caller may call, with its source", async () => {
    const { served } = await serving(KEYS, {
      access: [{ match: "w.bad", requiredScopes: ["hub:admin"] }],
    })
    const list = async (headers: Record<string, string>): Promise<readonly ConsoleSummary[]> => {
      const response = await fetch(`${served.url}/hub/operations`, { headers })
      return ((await response.json()) as { operations: ConsoleSummary[] }).operations
    }
    const all = await list(AS_ADMIN)
    expect(all.map(({ id }) => id)).toEqual(["w.bad", "w.outer", "w.word"])
    expect(all[0]).toMatchObject({ source: "local", isProtected: true })
    expect(all[1]).toEqual({
      id: "w.outer",
      namespace: "w",
      name: "outer",
      type: "query",
      title: "Outer",
      description: "Says something",
      tags: ["nested"],
      source: "local",
    })
    expect((await list(AS_USER)).map(({ id }) => id)).toEqual(["w.outer", "w.word"])
  })

  test("has the request of operations from an OpenAPI document, which is searched for", async () => {
    const dir = folder({
      "api.json": JSON.stringify({
        openapi: "3.1.0",
        info: { title: "Pets", version: "1.0.0" },
        servers: [{ url: "http://127.0.0.1:1" }],
        paths: {
          "/pets": { get: { operationId: "all", responses: {} }, post: { responses: {} } },
          "/pets/{id}": { get: { operationId: "one", responses: {} } },
        },
      }),
    })
    const hub = hubOf([sourceOf("pets", { openapi: join(dir, "api.json") })])
    await hub.ready()
    const served = await serveHub(hub, { port: 0 })
    onTestFinished(() => served.close())
    const read = async <TAnswer>(path: string): Promise<TAnswer> =>
      (await (await fetch(`${served.url}/hub/${path}`)).json()) as TAnswer
    const { operations } = await read<{ operations: ConsoleSummary[] }>("operations")
    expect(operations.map(({ id, request }) => [id, request])).toEqual([
      ["pets.all", "GET /pets"],
      ["pets.one", "GET /pets/{id}"],
      ["pets.post_pets", "POST /pets"],
    ])
    const search = async (query: string): Promise<readonly string[]> =>
      (await read<{ ids: string[] }>(`search?${new URLSearchParams({ query })}`)).ids
    expect(await search("/pets/7")).toEqual(["pets.one"])
    expect(await search("/pets")).toEqual(["pets.all", "pets.post_pets", "pets.one"])
    expect(await search("GET /pets")).toEqual(["pets.all", "pets.one"])
  })

  test("says who asks, and how else the hub can be called", async () => {
    const { hub, served } = await serving({ ...KEYS, title: "Words" })
    const about = async (headers: Record<string, string>): Promise<unknown> => {
      const response = await fetch(`${served.url}/hub/operations`, { headers })
      return { ...((await response.json()) as object), operations: undefined }
    }
    const surfaces = { title: "Words", mcp: "tools", websocket: true }
    expect(await about(AS_ADMIN)).toEqual({
      ...surfaces,
      records: false,
      caller: { id: "ada", scopes: ["hub:admin"], isAdmin: true, isOpen: false },
    })
    expect(await about(AS_USER)).toEqual({
      ...surfaces,
      caller: { id: "bob", scopes: ["hub", "admin", "hub:*"], isAdmin: false, isOpen: false },
    })
    for (let at = 0; at < 64; at++) {
      hub.registry.register({
        namespace: "more",
        name: `n${at}`,
        type: "query",
        version: "1.0.0",
        description: "x".repeat(300),
        inputSchema: {},
        outputSchema: {},
        accessControl: { requiredScopes: [] },
        handler: () => 1,
      })
    }
    const response = await fetch(`${served.url}/hub/operations`, { headers: AS_USER })
    expect(await response.json()).toMatchObject({ mcp: "search" })
    expect(response.headers.get("content-encoding")).toBe("gzip")
  })

  test("cuts a long description between characters", async () => {
    const hub = hubOf([])
    hub.registry.register({
      namespace: "long",
      name: "one",
      version: "1.0.0",
      type: "query",
      description: `${"a".repeat(299)}😀${"b".repeat(10_000)}`,
      inputSchema: {},
      outputSchema: {},
      accessControl: { requiredScopes: [] },
      handler: () => 1,
    })
    await using served = await serveHub(hub, { port: 0, title: "Mine" })
    const response = await fetch(`${served.url}/hub/operations`)
    const { title, operations } = (await response.json()) as {
      title: string
      operations: ConsoleSummary[]
    }
    expect(title).toBe("Mine")
    expect(operations[0]?.description).toBe(`${"a".repeat(299)}…`)
    expect(operations[0]).not.toHaveProperty("source")
    expect(operations[0]).not.toHaveProperty("isProtected")
  })
})

/** A connection that takes what it is given, or is full until `drain`. */
class FakeSink implements HTTPSink {
  isGone = false
  isFull = false
  text = ""
  #waiting: (() => void)[] = []
  #listeners = new Set<() => void>()

  write(text: string): boolean {
    this.text += text
    return !this.isFull
  }

  drained(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  drain(): void {
    this.isFull = false
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  onGone(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  leave(): void {
    this.isGone = true
    for (const listener of this.#listeners) listener()
  }
}

describe("ActivityStream", () => {
  function streamOf() {
    const clock = new VirtualClock()
    let tell: (trace: CallTrace) => void = () => {}
    const hub = {
      registry: {
        onCall(listener: typeof tell) {
          tell = listener
          return () => {}
        },
      } as never,
      sources: [],
      onStatus: () => () => {},
    }
    const activity = new Activity(hub, clock)
    const heartbeats = new Heartbeats(clock, 15_000)
    const stream = new ActivityStream({ activity, clock, heartbeats, requestId: "r1" })
    const sink = new FakeSink()
    const happen = (requestId: string): void =>
      tell({ phase: "start", requestId, operationId: "a.b" } as CallTrace)
    return { clock, activity, stream, sink, happen }
  }

  test("sends running calls first, then bundles events", async () => {
    const { clock, stream, sink, happen } = streamOf()
    happen("before")
    const running = stream.run(sink)
    await clock.advance(0)
    expect(sink.text).toContain(`"requestId":"before"`)
    sink.text = ""
    happen("one")
    happen("two")
    await clock.advance(99)
    expect(sink.text).toBe("")
    await clock.advance(1)
    expect(sink.text.match(/event: call/g)).toHaveLength(2)
    sink.leave()
    await running
    expect([clock.timers, sink.listeners]).toEqual([0, 0])
  })

  test("sends heartbeats when idle, but not on a full connection", async () => {
    const { clock, stream, sink, happen } = streamOf()
    const running = stream.run(sink)
    await clock.advance(45_000)
    expect(sink.text).toBe(": \n\n: \n\n")
    sink.text = ""
    sink.isFull = true
    happen("one")
    await clock.advance(100)
    const before = sink.text
    await clock.advance(45_000)
    expect(sink.text).toBe(before)
    sink.leave()
    await running
  })

  test("reports to a slow reader how many events it lost", async () => {
    const { clock, stream, sink, happen } = streamOf()
    const running = stream.run(sink)
    sink.isFull = true
    happen("first")
    await clock.advance(100)
    sink.text = ""
    for (let index = 0; index < 700; index++) happen(`${index}`)
    await clock.advance(1000)
    expect(sink.text).toBe("")
    sink.drain()
    await clock.advance(100)
    expect(sink.text).toMatch(/^event: lost\ndata: \{"events":200\}\n\nevent: call\n/)
    expect(sink.text.match(/event: call/g)).toHaveLength(500)
    sink.leave()
    await running
  })

  test("ends for a reader that reads nothing, with a reason", async () => {
    const { clock, stream, sink, happen } = streamOf()
    const running = stream.run(sink)
    sink.isFull = true
    happen("first")
    await clock.advance(100)
    stream.end(refusal("UNAUTHENTICATED", "The credential has expired."))
    stream.end()
    await running
    expect(sink.text).toContain(`event: error\ndata: {"type"`)
    expect(sink.text).toContain("The credential has expired.")
    expect(clock.timers).toBe(0)
  })

  test("ends at once for a disconnected reader, or when the hub is closed", async () => {
    const { stream, sink, activity, clock } = streamOf()
    const gone = new FakeSink()
    gone.onGone = (listener) => {
      gone.isGone = true
      listener()
      return () => {}
    }
    await stream.run(gone)
    expect(gone.text).toBe("")
    activity.close()
    const other = new ActivityStream({
      activity,
      clock,
      heartbeats: new Heartbeats(clock, 1000),
      requestId: "r2",
    })
    await other.run(sink)
    expect(sink.text).toBe("event: end\ndata: {}\n\n")
    expect(clock.timers).toBe(0)
  })
})
