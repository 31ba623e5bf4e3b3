import { connect as connectSocket } from "node:net"
import type { Socket } from "node:net"
import { inspect } from "node:util"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import type { Logger, OperationContext, OperationRegistry } from "../../../src/index.ts"
import { CallError } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServerOptions } from "../../../src/to-mcp.ts"
import { until } from "../../http-client/server.ts"
import { greet, operation, quietRegistry } from "../../support/operations.ts"
import { answerOf, initialize, legacyRequest, rawRequest, textOf } from "./support/clients.ts"
import type { RawRequest } from "./support/clients.ts"
import { fixture } from "./support/fixture.ts"
import type { Seen } from "./support/fixture.ts"
import { TOO_LONG } from "../../support/patience.ts"

interface Victim extends AsyncDisposable {
  readonly url: string
  readonly seen: Seen
  post(request: RawRequest): Promise<Response>
  call(name: string, input?: unknown, headers?: Record<string, string>): Promise<Response>
  /** Whether it still answers. */
  isWell(headers?: Record<string, string>): Promise<boolean>
}

async function victim(
  options: MCPServerOptions = {},
  registry?: OperationRegistry,
): Promise<Victim> {
  const made = fixture()
  const server = toMCP(registry ?? made.registry, { logger: silentLogger, drainMs: 50, ...options })
  const listening = await server.listen({ port: 0 })
  const { url } = listening
  const post = (request: RawRequest): Promise<Response> => fetch(url, request)
  const call: Victim["call"] = (name, input = {}, headers = {}) =>
    post(rawRequest("tools/call", { params: { name, arguments: input }, headers }))
  return {
    url,
    seen: made.seen,
    post,
    call,
    async isWell(headers = {}) {
      const answer = await answerOf(await call("demo_greet", { name: "Ada" }, headers))
      return textOf(answer.result).includes("Hello, Ada")
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

const headersOf = (session: string): Record<string, string> => ({ "mcp-session-id": session })

async function openSession(at: Victim, headers: Record<string, string> = {}): Promise<string> {
  const response = await at.post(initialize(headers))
  await response.text()
  return response.headers.get("mcp-session-id") ?? ""
}

/** A connection on which bytes are written as they are. */
async function dial(url: string): Promise<Socket & { readonly got: () => string }> {
  const { port } = new URL(url)
  const socket = connectSocket(Number(port), "127.0.0.1")
  let got = ""
  socket.on("data", (chunk: Buffer) => (got += chunk.toString()))
  socket.on("error", () => undefined)
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()))
  return Object.assign(socket, { got: () => got })
}

const REQUEST_LINES = (url: string, more: string): string =>
  `POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n${more}\r\n`

describe("a body that is too much", () => {
  const deepArray = "[".repeat(100_000) + "]".repeat(100_000)
  const deepObject = '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000)
  const manyKeys = `{${Array.from({ length: 250_000 }, (_, at) => `"k${at}":1`).join(",")}}`
  const around = (input: string, extra = ""): string =>
    rawRequest("tools/call", {
      params: {
        name: "demo_greet",
        arguments: "@here@",
        ...(extra !== "" && { requestState: extra }),
      },
    }).body.replace('"@here@"', input)

  const BODIES: Record<string, string> = {
    "deep lists": deepArray,
    "deep objects": deepObject,
    "a deep list of messages": `[${around("{}")},${deepArray}]`,
    "deep arguments": around(deepObject),
    "deep arguments and a state": around(deepObject, "v1.e30.AAAA"),
    "deep parameters": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${deepObject}}`,
    "a deep id": `{"jsonrpc":"2.0","id":${deepArray},"method":"tools/call","params":{}}`,
    "many keys": around(manyKeys),
    "many parameters": `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${manyKeys}}`,
    "many messages": `[${Array.from({ length: 20_000 }, () => '{"jsonrpc":"2.0","id":1,"method":"ping"}').join(",")}]`,
    "names of every object": around(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":7}',
    ),
    "halves of characters": around(String.raw`{"name":"\ud800","\udfff":"\udc00\ud800"}`),
    "a name with halves of characters": around("{}").replace("demo_greet", String.raw`\ud800`),
    nothing: "",
    "no JSON": "{",
    "a number": "1",
    null: "null",
    "an empty list": "[]",
    "a mark in front": `\ufeff${around("{}")}`,
    "a null character": `${around("{}")}\0`,
  }

  test.each(Object.keys(BODIES))("is answered soon and harms nobody: %s", async (kind) => {
    const errors: unknown[] = []
    const note = (error: unknown): void => void errors.push(error)
    process.on("uncaughtException", note).on("unhandledRejection", note)
    await using at = await victim()
    await at.isWell()
    const session = await openSession(at)

    for (const headers of [
      rawRequest("tools/call", { params: { name: "demo_greet" } }).headers,
      legacyRequest("x", {}, headersOf(session)).headers,
    ]) {
      const started = performance.now()
      const response = await fetch(at.url, { method: "POST", headers, body: BODIES[kind] ?? "" })
      const text = await response.text()

      expect(performance.now() - started).toBeLessThan(TOO_LONG)
      expect(response.status).toBeLessThan(500)
      expect(text).not.toMatch(/RangeError|call stack|at .*\.ts:/)
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
    expect(await at.isWell()).toBe(true)
    process.off("uncaughtException", note).off("unhandledRejection", note)
    expect(errors).toEqual([])
  })

  test.each([
    ["announced", `Content-Length: ${100 * 1024 * 1024}\r\n`, ""],
    [
      "in pieces",
      "Transfer-Encoding: chunked\r\n",
      `${(5 * 1024 * 1024).toString(16)}\r\n${"x".repeat(5 * 1024 * 1024)}\r\n`,
    ],
  ])("is refused before all of it is there: %s", async (_kind, header, body) => {
    await using at = await victim()
    const socket = await dial(at.url)
    socket.write(REQUEST_LINES(at.url, header) + body)

    await until(() => socket.got().includes("HTTP/1.1 "))

    expect(socket.got()).toContain("413")
    socket.destroy()
    expect(await at.isWell()).toBe(true)
  })

  test("is read once, whatever its lengths say", async () => {
    await using at = await victim()
    for (const lengths of [
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 5\r\nContent-Length: 6\r\n",
      "Content-Length: -1\r\n",
      "Content-Length: 0x10\r\n",
    ]) {
      const socket = await dial(at.url)
      socket.write(`${REQUEST_LINES(at.url, lengths)}0\r\n\r\nPOST /mcp HTTP/1.1\r\n`)
      await until(() => socket.got().includes("HTTP/1.1 "))
      expect(socket.got()).toMatch(/^HTTP\/1\.1 4\d\d/)
      socket.destroy()
    }
    expect(await at.isWell()).toBe(true)
  })
})

describe("a client that dawdles or leaves", () => {
  test("with half a body does not keep anyone else waiting, and is let go of on close", async () => {
    await using at = await victim()
    const sockets = await Promise.all(Array.from({ length: 50 }, () => dial(at.url)))
    for (const socket of sockets) {
      socket.write(`${REQUEST_LINES(at.url, "Content-Length: 1000\r\n")}{"jsonrpc"`)
    }

    expect(await at.isWell()).toBe(true)
    await at[Symbol.asyncDispose]()

    await until(() => sockets.every((socket) => socket.closed || socket.readableEnded))
    for (const socket of sockets) socket.destroy()
  })

  test("is cut off when its request takes too long, byte by byte or not at all", async () => {
    const { registry } = fixture()
    await using server = toMCP(registry, { logger: silentLogger })
    const { url } = await server.listen({ port: 0, requestTimeout: 300 })
    const [body, head] = await Promise.all([dial(url), dial(url)])
    body.write(`${REQUEST_LINES(url, "Content-Length: 1000\r\n")}{`)
    head.write("POST /mcp HTTP/1.1\r\n")
    const drip = setInterval(() => {
      body.write(" ")
      head.write("X: y\r\n")
    }, 50)

    await until(() => body.closed && head.closed)

    clearInterval(drip)
    expect(body.got() + head.got()).toContain("408")
    expect((await fetch(url, rawRequest("tools/list"))).status).toBe(200)
  })

  test.each(["legacy", "modern"] as const)(
    "in the middle of a call ends the call (%s)",
    async (era) => {
      await using at = await victim({ keepAliveMs: 20 })
      const session = era === "legacy" ? await openSession(at) : ""
      const params = { name: "demo_wait", arguments: {} }
      const request =
        era === "legacy"
          ? legacyRequest("tools/call", params, headersOf(session))
          : rawRequest("tools/call", { params })
      const leavers = Array.from({ length: 20 }, async () => {
        const controller = new AbortController()
        const gone = fetch(at.url, {
          ...request,
          body: request.body.replace('"id":1', `"id":${Math.floor(Math.random() * 1e9)}`),
          signal: controller.signal,
        })
          .then((response) => response.text())
          .catch(() => undefined)
        await until(() => at.seen.runs >= 20)
        controller.abort()
        await gone
      })
      await Promise.all(leavers)

      await until(() => at.seen.aborted.length === at.seen.runs)
      expect(await at.isWell()).toBe(true)
    },
  )

  test("between two bytes of a long answer harms nobody", async () => {
    const registry = quietRegistry([
      greet,
      operation("demo.long", { type: "query", handler: () => "x".repeat(4_000_000) }),
    ])
    await using at = await victim({}, registry)
    const body = rawRequest("tools/call", { params: { name: "demo_long", arguments: {} } }).body
    for (let turn = 0; turn < 20; turn++) {
      const socket = await dial(at.url)
      const lines = REQUEST_LINES(at.url, `Content-Length: ${body.length}\r\n`)
      socket.write(
        lines.replace("Mcp-Method: tools/list", "Mcp-Method: tools/call\r\nMcp-Name: demo_long") +
          body,
      )
      await until(() => socket.got().length > 1000)
      socket.destroy()
    }

    expect(await at.isWell()).toBe(true)
  })
})

describe("sessions", () => {
  const PEOPLE: Record<string, string> = { a: "ada", b: "bob" }
  const authenticate: MCPServerOptions["authenticate"] = ({ headers }) => {
    const id = PEOPLE[String(headers["authorization"]).replace("Bearer ", "")]
    return id === undefined ? undefined : { id, scopes: [] }
  }

  test("do not grow past their number, however many ask at once", async () => {
    await using at = await victim({ sessions: { max: 5 } })
    const sessions = await Promise.all(Array.from({ length: 100 }, () => openSession(at)))

    const alive = await Promise.all(
      sessions.map(async (session) => {
        const response = await at.post(legacyRequest("ping", {}, headersOf(session)))
        await response.text()
        return response.status === 200
      }),
    )

    expect(alive.filter(Boolean).length).toBeLessThanOrEqual(5)
    expect(await at.isWell()).toBe(true)
  })

  test("do not grow past their number in one turn either", async () => {
    const { registry } = fixture()
    await using server = toMCP(registry, { sessions: { max: 5 }, logger: silentLogger })
    const send = (request: RawRequest): Promise<Response> =>
      server.fetch(new Request("http://localhost/mcp", request))
    const sessions = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const response = await send(initialize())
        await response.text()
        return response.headers.get("mcp-session-id") ?? ""
      }),
    )
    const alive = await Promise.all(
      sessions.map(
        async (session) => (await send(legacyRequest("ping", {}, headersOf(session)))).ok,
      ),
    )

    expect(alive.filter(Boolean).length).toBeLessThanOrEqual(5)
    expect(alive.some(Boolean)).toBe(true)
  })

  test("of somebody else are not there: to call, to listen, to end", async () => {
    await using at = await victim({ authenticate })
    const own = { Authorization: "Bearer a" }
    const session = await openSession(at, own)
    const foreign = { ...headersOf(session), Authorization: "Bearer b" }
    const unknown = { ...headersOf(crypto.randomUUID()), Authorization: "Bearer b" }

    for (const method of ["POST", "GET", "DELETE"]) {
      const ask = async (headers: Record<string, string>): Promise<readonly unknown[]> => {
        const { body } = legacyRequest("tools/list")
        const accept = "application/json, text/event-stream"
        const response = await fetch(at.url, {
          method,
          headers: { accept, "content-type": "application/json", ...headers },
          ...(method === "POST" && { body }),
        })
        return [response.status, await response.text()]
      }
      const answer = await ask(foreign)
      expect(answer).toEqual(await ask(unknown))
      expect(answer[0]).toBe(404)
    }
    const still = await at.post(legacyRequest("tools/list", {}, { ...headersOf(session), ...own }))
    expect(still.status).toBe(200)
    await still.text()
  })

  test("never mix up answers of equal ids", async () => {
    const registry = quietRegistry([
      operation("demo.who", {
        type: "query",
        inputSchema: Type.Object({ at: Type.Number() }),
        handler: async ({ at }: { at: number }, { identity }: OperationContext) => {
          await new Promise((resolve) => setTimeout(resolve, at % 7))
          return `${identity?.id}-${at}`
        },
      } as never),
    ])
    await using at = await victim({ authenticate }, registry)
    const people = await Promise.all(
      Object.entries(PEOPLE).map(async ([token, id]) => {
        const headers = { Authorization: `Bearer ${token}` }
        return { id, headers: { ...headers, ...headersOf(await openSession(at, headers)) } }
      }),
    )

    const calls = Array.from({ length: 300 }, async (_, n) => {
      const { id, headers } = people[n % 2] as (typeof people)[number]
      const params = { name: "demo_who", arguments: { at: n } }
      const request = legacyRequest("tools/call", params, headers)
      const body = request.body.replace('"id":1', `"id":${Math.floor(n / 2)}`)
      const answer = await answerOf(await at.post({ ...request, body }))
      return [textOf(answer.result), `${id}-${n}`]
    })

    for (const [got, wanted] of await Promise.all(calls)) expect(got).toBe(wanted)
  })
})

describe("what a failing handler knows", () => {
  const CANARY = "canary-5512"
  class DatabaseError extends Error {
    readonly query = `select ${CANARY}`
    readonly password = CANARY
    override name = CANARY
  }
  const THROWN: Record<string, () => never> = {
    "an error with more on it": () => {
      const error = new DatabaseError("It broke", { cause: new Error(CANARY) })
      error.stack = `at ${CANARY}`
      throw error
    },
    "details that nobody declared": () => {
      throw new CallError("EXECUTION_ERROR", "It broke", {
        details: { key: CANARY },
        cause: CANARY,
      })
    },
    "several errors": () => {
      throw new AggregateError([new Error(CANARY)], "It broke")
    },
    "an object": () => {
      throw { message: "It broke", secret: CANARY, toJSON: () => CANARY } as unknown as Error
    },
    "an error that cannot be read": () => {
      throw new Proxy(new Error("It broke"), {
        get() {
          throw new Error(CANARY)
        },
      })
    },
    "a function": () => {
      throw (() => CANARY) as unknown as Error
    },
  }

  test.each(Object.keys(THROWN))("goes no further than its message: %s", async (kind) => {
    const registry = quietRegistry([
      greet,
      operation("demo.fail", { handler: THROWN[kind] as never }),
    ])
    await using at = await victim({}, registry)
    const session = await openSession(at)

    const modern = await (await at.call("demo_fail")).text()
    const params = { name: "demo_fail", arguments: {} }
    const legacy = await (
      await at.post(legacyRequest("tools/call", params, headersOf(session)))
    ).text()

    for (const text of [modern, legacy]) {
      expect(text).toContain('"isError":true')
      expect(text).not.toContain(CANARY)
      expect(text).not.toMatch(/\.ts:\d+|node_modules/)
    }
    expect(await at.isWell()).toBe(true)
  })
})

describe("results that are none", () => {
  const cycle: Record<string, unknown> = {}
  cycle["self"] = cycle
  let deep: unknown = 1
  for (let at = 0; at < 100_000; at++) deep = [deep]
  const RESULTS: Record<string, () => unknown> = {
    "a circle": () => cycle,
    "a BigInt": () => ({ big: 10n }),
    "a function": () => () => 1,
    "a symbol": () => Symbol("x"),
    "no number": () => ({ a: Number.NaN, b: Number.POSITIVE_INFINITY }),
    "too deep": () => deep,
    "too large": () => "x".repeat(20_000_000),
    "too many": () => Array.from({ length: 2_000_000 }, () => 1),
    "a getter that throws": () => ({
      get it() {
        throw new Error("no")
      },
    }),
    "a proxy that throws": () =>
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error("no")
          },
        },
      ),
    "its own JSON": () => ({
      toJSON: () => {
        throw new Error("no")
      },
    }),
    "halves of characters": () => "\ud800",
    "line ends of a stream": () => 'a\n\nevent: admin\ndata: {"evil":1}\r\rid: 7\n\n\u2028',
  }

  test.each(Object.keys(RESULTS))("are an answer all the same: %s", async (kind) => {
    const registry = quietRegistry([
      greet,
      operation("demo.odd", {
        handler: (_input: never, context: OperationContext) => {
          context.progress({ progress: 1, message: "a\n\nevent: admin\ndata: x" })
          return RESULTS[kind]?.()
        },
      }),
    ])
    await using at = await victim({}, registry)
    const session = await openSession(at)
    const params = { name: "demo_odd", arguments: {}, _meta: { progressToken: 1 } }
    const requests = [
      rawRequest("tools/call", { params, meta: { progressToken: 1 } }),
      legacyRequest("tools/call", params, headersOf(session)),
    ]

    for (const request of requests) {
      const response = await at.post(request)
      const answer = await answerOf(response)
      expect(response.status).toBe(200)
      expect(answer.result?.["content"] ?? answer.error).toBeDefined()
      const mustSay = kind === "line ends of a stream" ? "event: admin" : ""
      expect(JSON.stringify(answer)).toContain(mustSay)
    }
    expect(await at.isWell()).toBe(true)
  })
})

describe("an answer that fails late", () => {
  test.each(["legacy", "modern"] as const)(
    "is an error on its own stream and nothing else (%s)",
    async (era) => {
      const errors: unknown[] = []
      const note = (error: unknown): void => void errors.push(error)
      process.on("uncaughtException", note).on("unhandledRejection", note)
      const registry = quietRegistry([
        greet,
        operation("demo.late", {
          handler: async () => {
            await new Promise((resolve) => setTimeout(resolve, 40))
            throw new Error("too late")
          },
        }),
      ])
      await using at = await victim({ keepAliveMs: 5 }, registry)
      const params = { name: "demo_late", arguments: {} }
      const response = await at.post(
        era === "modern"
          ? rawRequest("tools/call", { params })
          : legacyRequest("tools/call", params, headersOf(await openSession(at))),
      )

      expect(response.headers.get("content-type")).toBe("text/event-stream")
      expect((await answerOf(response)).result).toMatchObject({ isError: true })
      expect(await at.isWell()).toBe(true)
      process.off("uncaughtException", note).off("unhandledRejection", note)
      expect(errors).toEqual([])
    },
  )
})

describe("who may not", () => {
  const MEMBERS = ["demo_secret", "demo_nothing"] as const

  test.each(["legacy", "modern"] as const)(
    "hears the same of what is forbidden and of what is not there (%s)",
    async (era) => {
      await using at = await victim()
      const session = era === "legacy" ? headersOf(await openSession(at)) : {}
      const inputs = [{}, { x: 1 }, { name: "x".repeat(1000) }]
      for (const input of inputs) {
        for (const more of [{}, { requestState: "v1.x.y" }, { inputResponses: { a: 1 } }]) {
          const [one, other] = await Promise.all(
            MEMBERS.map(async (name) => {
              const params = { name, arguments: input, ...more }
              const request =
                era === "legacy"
                  ? legacyRequest("tools/call", params, session)
                  : rawRequest("tools/call", { params })
              const response = await at.post(request)
              const headers = [...response.headers].filter(
                ([key]) => !["date", "content-length"].includes(key),
              )
              return [response.status, headers, (await response.text()).replaceAll(name, "NAME")]
            }),
          )
          expect(one).toEqual(other)
        }
      }
    },
  )

  test("finds no token anywhere behind the door", async () => {
    const lines: string[] = []
    const note = (...words: unknown[]): void =>
      void lines.push(inspect(words, { depth: 20, showHidden: true }))
    const logger: Logger = { debug: note, info: note, warn: note, error: note }
    const contexts: unknown[] = []
    const registry = quietRegistry(
      [
        greet,
        operation("demo.look", {
          handler: (input: never, context: OperationContext) => {
            contexts.push(input, context, context.metadata, context.identity)
            throw new Error("seen")
          },
        }),
      ],
      { logger },
    )
    const authenticate: MCPServerOptions["authenticate"] = () => ({ id: "ada", scopes: [] })
    await using at = await victim({ authenticate, logger }, registry)
    const headers = {
      Authorization: "Bearer token-canary",
      Cookie: "a=token-canary",
      "Proxy-Authorization": "Basic token-canary",
    }
    const session = { ...headersOf(await openSession(at, headers)), ...headers }

    const said = [
      await (await at.call("demo_look", {}, headers)).text(),
      await (
        await at.post(legacyRequest("tools/call", { name: "demo_look", arguments: {} }, session))
      ).text(),
    ]

    const shown = inspect(contexts, { depth: 20, showHidden: true })
    expect(contexts).toHaveLength(8)
    expect(`${shown}${lines.join("\n")}${said.join("\n")}`).not.toContain("token-canary")
  })
})
