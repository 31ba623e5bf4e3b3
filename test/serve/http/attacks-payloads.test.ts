import { once } from "node:events"
import { connect } from "node:net"
import { createParser } from "eventsource-parser"
import type { EventSourceMessage } from "eventsource-parser"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { CallError, createClient, defineOperation } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import { base, post, raw, useServers } from "./support.ts"
import { waitFor } from "../../support/wait-for.ts"

const { start, open, cleanups } = useServers()

const events = { accept: "text/event-stream" }

/** What another reader makes of a stream. */
function parsed(text: string): EventSourceMessage[] {
  const seen: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => void seen.push(event) })
  parser.feed(text)
  return seen
}

describe("JSON that is meant to hurt (SV17)", () => {
  test.each([
    ["lists", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["lists that never end", "[".repeat(1_000_000)],
    ["both", '[{"a":'.repeat(70_000)],
  ])("%s 100,000 levels deep are refused everywhere", async (_, text) => {
    const { api, seen } = await start({ maxBodyBytes: 4 * 1024 * 1024 })
    for (const path of ["/operations/demo.echo", "/api/demo/echo", "/batch"]) {
      const answer = await post(`${api.url}${path}`, text)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ code: "VALIDATION_ERROR" })
    }
    expect(seen.runs).toBe(0)
  })

  test("in the address it is no deeper", async () => {
    const { api, seen } = await start()
    const text = "[".repeat(500) + "]".repeat(500)
    const deep = encodeURIComponent(text)
    const stream = await fetch(`${api.url}/operations/demo.count?input=${deep}`, {
      headers: events,
    })
    expect(stream.status).toBe(400)
    expect(seen.pulled).toBe(0)
    // Where a schema says nothing, what cannot be read as JSON is text.
    const echoed = await fetch(`${api.url}/api/demo/echo?input=${deep}`)
    expect(await echoed.json()).toEqual({ input: text })
  })

  test("200,000 keys are too large, and as many as fit are data", async () => {
    const { api, seen } = await start()
    const keys = (count: number): string =>
      `{${Array.from({ length: count }, (_, at) => `"${at}x":0`).join(",")}}`
    expect((await post(`${api.url}/api/demo/echo`, keys(200_000))).status).toBe(413)
    expect(seen.runs).toBe(0)
    const answer = await post(`${api.url}/api/demo/echo`, keys(90_000))
    expect(Object.keys((await answer.json()) as object)).toHaveLength(90_000)
    const wrong = await post(`${api.url}/api/demo/count`, keys(90_000))
    expect(wrong.status).toBe(400)
    expect((await wrong.text()).length).toBeLessThan(20_000)
  })

  test("the same key twice is the last one, checked", async () => {
    const { api, seen } = await start()
    expect((await post(`${api.url}/api/demo/count`, '{"to":1,"to":"x"}')).status).toBe(400)
    expect(seen.pulled).toBe(0)
  })

  test.each([
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"a":{"__proto__":{"polluted":1}}}',
    '[{"__proto__":{"polluted":1}}]',
  ])("%s pollutes nothing", async (text) => {
    const { api } = await start()
    for (const path of ["/operations/demo.echo", "/api/demo/echo"]) {
      const answer = await post(`${api.url}${path}`, text)
      expect(await answer.text()).toContain(text)
    }
    const batch = `[{"id":"demo.echo","__proto__":{"input":"inherited"},"key":"k","input":${text}}]`
    expect(await (await post(`${api.url}/batch`, batch)).text()).toContain(text)
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })

  test("what is inherited is no call, no input and no query", async () => {
    const { api, seen } = await start()
    const answer = await post(`${api.url}/batch`, '[{"__proto__":{"id":"demo.echo"}}]')
    expect(await answer.json()).toMatchObject({ results: [{ ok: false }] })
    const calls = await post(`${api.url}/batch`, '{"__proto__":{"calls":[{"id":"demo.echo"}]}}')
    expect(calls.status).toBe(400)
    expect(seen.runs).toBe(0)
    for (const query of ["__proto__=1", "__proto__[polluted]=1", "constructor=1", "toString=1"]) {
      const counted = await fetch(`${api.url}/api/demo/count?${query}`)
      expect(counted.status).toBe(400)
      await (await fetch(`${api.url}/operations?${query}`)).text()
    }
    for (const id of ["__proto__", "constructor", "toString", "demo.__proto__", "hasOwnProperty"]) {
      expect((await post(`${api.url}/operations/${id}`)).status).toBe(404)
    }
    expect((await post(`${api.url}/api/__proto__/toString`)).status).toBe(404)
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })

  test("half letters come back as they were, or are refused; answers stay UTF-8", async () => {
    const { api } = await start()
    const strict = new TextDecoder("utf-8", { fatal: true })
    for (const text of ['"\\ud800"', '"\\udc00\\ud800"', '{"\\ud800":1}']) {
      const answer = await post(`${api.url}/operations/demo.echo`, text)
      const body = strict.decode(await answer.arrayBuffer())
      expect(JSON.parse(body)).toMatchObject({ data: JSON.parse(text) as unknown })
    }
    for (const address of ["/operations/%ED%A0%80", "/api/demo/%ED%A0%80"]) {
      expect((await post(`${api.url}${address}`)).status).toBe(404)
    }
    expect((await fetch(`${api.url}/api/demo/count?to=%ED%A0%80`)).status).toBe(400)
  })

  test("numbers that are none, and texts that are no JSON, are refused", async () => {
    const { api, seen } = await start()
    for (const text of ["NaN", "Infinity", "01", "'a'", "{a:1}", "1 2", "\u00001", "/**/1"]) {
      expect((await post(`${api.url}/api/demo/echo`, text)).status).toBe(400)
    }
    expect(seen.runs).toBe(0)
    expect((await post(`${api.url}/api/demo/count`, '{"to":1e999}')).status).toBe(400)
  })
})

describe("rich types in plain JSON (SV35)", () => {
  const FORMS: readonly unknown[] = [
    { $type: "function", value: "() => process.exit(1)" },
    { json: { at: "2020-01-01" }, meta: { values: { at: ["Date"] } } },
    { t: 25, s: "1", f: "process.exit(1)" },
    ["Date", "2020-01-01"],
    { $date: 0, $regex: ".*", $where: "sleep(1000)" },
    { type: "Buffer", data: [1, 2, 3] },
    { binary: { "": "Uint8Array" }, data: "AAAA" },
    { $ref: "#/a", $defs: {} },
    { then: "not a function", toJSON: "not a function" },
    "_$$ND_FUNC$$_function(){process.exit(1)}()",
  ]

  test.each(FORMS.map((form) => [form]))("%j is plain data", async (form) => {
    const { api } = await start()
    const body = JSON.stringify(form)
    const envelope = await post(`${api.url}/operations/demo.echo`, body)
    expect(await envelope.json()).toMatchObject({ data: form, meta: { source: "local" } })
    expect(await (await post(`${api.url}/api/demo/echo`, body)).json()).toEqual(form)
    const batch = await post(`${api.url}/batch`, [{ id: "demo.echo", input: form }])
    expect(await batch.json()).toMatchObject({ results: [{ envelope: { data: form } }] })
    const client = createClient(createWebSocketTransport(`${api.url.replace("http", "ws")}/ws`))
    cleanups.push(() => client.close())
    expect((await client.call("demo.echo", form)).data).toEqual(form)
  })
})

describe("frames that are meant to hurt (SV19)", () => {
  test.each([
    ["an id of null", '{"id":null,"type":"call.requested","requestId":null}'],
    ["no id", '{"type":"call.requested","operationId":"demo.echo"}'],
    ["an id that is an object", '{"type":"call.requested","requestId":{},"operationId":{}}'],
    ["an operation of null", '{"type":"call.requested","requestId":"1","operationId":null}'],
    ["parameters of a connection", '{"method":"connectionParams","data":"{"}'],
    ["JSON-RPC", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}'],
    ["a list", "[null,1,[],{}]"],
    ["null", "null"],
    ["a prototype", '{"__proto__":{"type":"call.requested"},"type":"__proto__"}'],
    ["half a letter", '{"type":"call.requested","requestId":"\\ud800","operationId":"\\ud800"}'],
    ["what is no JSON", "{,"],
    ["nothing", ""],
    ["bytes", Buffer.from([0, 255, 1])],
    ["deep lists", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ])("%s is answered or closed, and others notice nothing", async (_, frame) => {
    const { api, seen } = await start()
    const url = `${api.url.replace("http", "ws")}/ws`
    const bystander = createClient(createWebSocketTransport(url))
    cleanups.push(() => bystander.close())
    await bystander.call("demo.echo", 0)
    const socket = new WebSocket(url)
    cleanups.push(() => socket.terminate())
    await once(socket, "open")
    const over = new Promise<number>((resolve) => socket.on("close", resolve))
    socket.send(frame)
    // Either it is closed for it, or it goes on with what makes sense.
    socket.send(
      '{"type":"call.requested","requestId":"good","operationId":"demo.echo","input":"still"}',
    )
    const answered = new Promise<string>((resolve) => {
      socket.on("message", (data: Buffer) => {
        if (String(data).includes("still")) resolve("answered")
      })
    })
    const outcome = await Promise.race([over, answered])
    expect(["answered", 1002, 1003, 1007, 1008, 1009]).toContain(outcome)
    expect((await bystander.call("demo.echo", 1)).data).toBe(1)
    expect(seen.runs).toBeLessThanOrEqual(3)
  })

  test.each([
    ["a version that is none", "sec-websocket-version: 99\r\nsec-websocket-key: x\r\n"],
    ["no key", "sec-websocket-version: 13\r\n"],
    ["a key that is none", "sec-websocket-version: 13\r\nsec-websocket-key: x\r\n"],
    [
      "protocols that are none",
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: ,,%%,{\r\n",
    ],
  ])("an upgrade with %s is refused", async (_, headers) => {
    const { api } = await start()
    const bytes = `GET /ws?connectionParams=%7B HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n${headers}\r\n`
    expect(await raw(api.url, bytes)).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect((await post(`${api.url}/api/demo/echo`, 1)).status).toBe(200)
  })
})

describe("events with line breaks in them (SV23)", () => {
  const NASTY = [
    "\n\nevent: admin\ndata: x",
    "\r\revent: admin\rdata: x",
    "\r\n\r\nid: 99\r\nretry: 1\r\n\r\n",
    "\u2028\u2029\u0085\ufeff\u0000",
    ": comment\n\ndata: [DONE]\n\n",
  ]
  const registry = createRegistry(
    [
      defineOperation({
        ...base,
        name: "nasty",
        type: "subscription",
        async *handler() {
          for (const text of NASTY) yield { [text]: text }
          throw new CallError("EXECUTION_ERROR", NASTY.join(""), {
            details: { [NASTY[0] ?? ""]: 1 },
          })
        },
      }),
    ],
    { logger: silentLogger },
  ) as unknown as AnyRegistry

  test.each(["/operations/demo.nasty", "/api/demo/nasty"])(
    "stay one event each: %s",
    async (path) => {
      const api = await open(registry)
      const answer = await fetch(`${api.url}${path}`, {
        headers: { ...events, "last-event-id": "x" },
      })
      const text = await answer.text()
      const seen = parsed(text)
      expect(seen).toHaveLength(NASTY.length + 1)
      for (const [at, nasty] of NASTY.entries()) {
        expect(seen[at]).toMatchObject({ id: String(at + 1) })
        expect(seen[at]?.event).toBeUndefined()
        const item = JSON.parse(seen[at]?.data ?? "") as { data: unknown }
        expect(path.startsWith("/api") ? item : item.data).toEqual({ [nasty]: nasty })
      }
      expect(seen.at(-1)?.event).toBe("error")
      expect(JSON.parse(seen.at(-1)?.data ?? "")).toMatchObject({ detail: NASTY.join("") })
      expect(text).not.toMatch(/^(?:event: admin|retry|data: x)/m)
    },
  )
})

describe("clients that vanish (SV24)", () => {
  /** Opens a stream, waits for its first bytes, reads no further, and is gone. */
  async function vanish(url: string, path: string): Promise<void> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n`)
    await once(socket, "data")
    socket.pause()
    socket.resetAndDestroy()
  }

  test.each(["/operations/demo.idle", "/api/demo/idle"])("%s ends its handler", async (path) => {
    const { api, seen } = await start()
    await vanish(api.url, path)
    await seen.ended.promise
    expect(seen.aborted).toBe(1)
  })

  test("a handler that waits for a reader who went away ends too", async () => {
    const { api, seen } = await start()
    await vanish(api.url, "/api/demo/count?to=100000&size=10000")
    await seen.ended.promise
    expect(seen.pulled).toBeLessThan(100_000)
  })

  test("the place of a stream is free again", async () => {
    const { api, seen } = await start({ sse: { maxStreams: 1 } })
    await vanish(api.url, "/api/demo/idle")
    await seen.ended.promise
    await waitFor(async () => {
      const answer = await fetch(`${api.url}/api/demo/count?to=1`)
      expect([answer.status, (await answer.text()).includes("event: end")]).toEqual([200, true])
    })
  })
})

describe("what handlers throw (SV29)", () => {
  const CANARY = "sk_live_c4n4ryc4n4ryc4n4ry"
  const THROWN: Readonly<Record<string, () => unknown>> = {
    cause: () => new Error("It failed.", { cause: new Error(`SELECT * FROM users -- ${CANARY}`) }),
    stack: () =>
      Object.assign(new Error("It failed."), { stack: `Error\n    at /srv/app/${CANARY}.js:1:1` }),
    secret: () => new Error(`Refused: Authorization: Bearer ${CANARY}`),
    fields: () => Object.assign(new Error("It failed."), { sql: CANARY, config: { key: CANARY } }),
    details: () =>
      new CallError("EXECUTION_ERROR", "It failed.", { details: { password: CANARY } }),
    code: () => Object.assign(new Error("It failed."), { code: "ACCESS_DENIED", key: CANARY }),
    getter: () =>
      Object.defineProperty(new Error("It failed."), "message", {
        get: () => {
          throw new Error(CANARY)
        },
      }),
    json: () => ({
      toJSON: () => {
        throw new Error(CANARY)
      },
    }),
    nothing: () => undefined,
    proxy: () =>
      new Proxy(
        {},
        {
          get: () => {
            throw new Error(CANARY)
          },
        },
      ),
  }
  const fail = (input: unknown): never => {
    throw THROWN[(input as { which: string }).which]?.()
  }
  const inputSchema = Type.Object({ which: Type.String() })
  const registry = createRegistry(
    [
      defineOperation({ ...base, inputSchema, name: "fail", type: "query", handler: fail }),
      defineOperation({
        ...base,
        inputSchema,
        name: "early",
        type: "subscription",
        async *handler(input) {
          fail(input)
          yield 1
        },
      }),
      defineOperation({
        ...base,
        inputSchema,
        name: "late",
        type: "subscription",
        async *handler(input) {
          yield 1
          fail(input)
        },
      }),
    ],
    { logger: silentLogger },
  ) as unknown as AnyRegistry

  test.each(Object.keys(THROWN))(
    "%s: a code, words and an id, and nothing from inside",
    async (which) => {
      const api = await open(registry)
      const headers = { "request-id": "req-7" }
      const answers = await Promise.all([
        post(`${api.url}/operations/demo.fail`, { which }, { headers }),
        post(`${api.url}/operations/demo.fail?unwrap=1`, { which }, { headers }),
        post(`${api.url}/api/demo/fail`, { which }, { headers }),
        fetch(`${api.url}/api/demo/fail?which=${which}`, { headers }),
        post(`${api.url}/batch`, [{ id: "demo.fail", input: { which } }], { headers }),
        post(`${api.url}/api/demo/early`, { which }, { headers: { ...headers, ...events } }),
        post(`${api.url}/operations/demo.late`, { which }, { headers: { ...headers, ...events } }),
      ])
      for (const [at, answer] of answers.entries()) {
        const text = await answer.text()
        expect(text).not.toContain(CANARY)
        expect(text).not.toMatch(/SELECT|node_modules|file:\/\/|\/srv\/|\.ts:\d|\bat [\w.]+ \(/)
        expect(text).toMatch(/"code":"(?:EXECUTION|UNKNOWN)_ERROR"/)
        expect(text).toMatch(/"requestId":"req-7(?:\.0)?"/)
        expect(answer.headers.get("request-id")).toBe("req-7")
        expect(text).toMatch(/"detail":"[^"]/)
        expect(answer.status).toBe(at === 4 || at === 6 ? 200 : 500)
        expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
      }
    },
  )
})
