import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { awkward } from "../support/awkward.ts"
import { serveAwkward } from "../awkward/http.ts"
import { failure, isAlive, open, textOf, until } from "../connection/support.ts"
import { rejection } from "../../../support/operations.ts"
import { hostile, json, scripted, tool } from "./support.ts"
import { TOO_LONG } from "../../../support/patience.ts"

const MB = 1024 * 1024

describe("more than anybody wants", () => {
  test("100 MB without a line end stop the child, and little of it is kept", async () => {
    await using server = open({ ...awkward({ flood: 100 * MB }), maxMessageBytes: 2 * MB })
    await server.connection.connect()
    const { pid } = server.connection.status
    const before = process.memoryUsage().rss

    const error = await failure(server.call("echo", { text: "hi" }))

    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(error.message).toContain("maxMessageBytes")
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB)
    await until(() => !isAlive(pid ?? 0))
  })

  test("a flood on standard error stops nobody", async () => {
    await using server = open(awkward({ stderrFlood: 20 * MB }))

    expect(textOf(await server.call("echo", { text: "hi" }))).toBe("hi")
    expect(server.connection.status.stderrTail?.length).toBeLessThan(100_000)
  })

  test.each(["json", "stream"])("50 MB over HTTP are cut off: %s", async (form) => {
    await using remote = await serveAwkward({ era: "legacy", json: form === "json" })
    await using server = open({ url: remote.url, maxMessageBytes: 2 * MB })

    expect(await failure(server.call("big", { bytes: 50 * MB }))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
    expect(textOf(await server.call("echo", { text: "next" }))).toBe("next")
  })

  test("a stream that never ends its event is cut off", async () => {
    await using remote = await hostile({
      "tools/call": (_seen, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const chunk = `data: ${"x".repeat(65_536)}\n`
        const pour = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once("drain", pour)
        }
        pour()
        return undefined
      },
    })
    await using server = open({ url: remote.url, maxMessageBytes: MB })

    expect(await failure(server.call("echo"))).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
  })

  test("an answer that is larger than it says it is when it is unpacked is cut off", async () => {
    const { gzipSync } = await import("node:zlib")
    const bomb = gzipSync(Buffer.alloc(50 * MB, "x"))
    await using remote = await hostile({
      "tools/call": (_seen, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        response.end(bomb)
        return undefined
      },
    })
    await using server = open({ url: remote.url, maxMessageBytes: MB })

    expect(bomb.length).toBeLessThan(MB)
    expect(await failure(server.call("echo"))).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
  })

  test.each([
    ["text", "big", { bytes: 3 * MB }],
    ["blocks", "many_blocks", { count: 10_000 }],
  ])("results have a limit of their own: %s", async (_what, name, input) => {
    const limits = { maxMessageBytes: 64 * MB, maxResultBytes: 100_000 }
    await using server = open({ ...awkward(), ...limits })

    const error = await failure(server.call(name, input))

    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true })
    expect(error.message).toContain("maxResultBytes")
  })

  test("bytes in base64 count like any others", async () => {
    const data = "A".repeat(3 * MB)
    await using remote = await hostile({
      "tools/call": () => ({ content: [{ type: "image", mimeType: "image/png", data }] }),
    })
    await using server = open({ url: remote.url, maxMessageBytes: MB })

    expect(await failure(server.call("echo"))).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
  })

  test("lists that never end do, by pages and by tools", async () => {
    await using remote = await serveAwkward({ era: "legacy", endless: true })
    await using pages = open({ url: remote.url })
    const { warnings } = await pages.connection.list("tools")

    expect(warnings.join()).toContain("maxPages")
    const lists = remote.requests.filter(({ message }) => message?.method === "tools/list")
    expect(lists.length).toBeLessThanOrEqual(100)

    const tools = Array.from({ length: 5000 }, (_, at) => tool(`t${at}`))
    let page = 0
    await using many = await hostile({
      "tools/list": () => ({ tools, nextCursor: `${page++}` }),
    })
    await using server = open({ url: many.url, maxTools: 12_000 })
    const list = await server.connection.list("tools")
    expect(list.items).toHaveLength(12_000)
    expect(page).toBe(3)
  })

  test("questions without an end have one", async () => {
    let asked = 0
    await using remote = await serveAwkward({ era: "modern" })
    await using server = open({
      url: remote.url,
      elicitation: async () => {
        asked++
        return { action: "accept", content: { name: "x" } }
      },
    })

    expect(await failure(server.call("ask_forever"))).toMatchObject({ code: "EXECUTION_ERROR" })
    expect(asked).toBeLessThanOrEqual(11)
  })

  test("a storm of notices and of questions stops nobody", async () => {
    const storm = scripted(`
      on["tools/call"] = (params, id) => {
        for (let at = 0; at < 5000; at++) {
          say({ method: "notifications/tools/list_changed" })
          say({ method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: at } })
          say({ id: "q" + at, method: "sampling/createMessage", params: {} })
          say({ id: at, method: "nobody/knows" })
        }
        return { content: [{ type: "text", text: "over" }] }
      }
      let lists = 0
      const list = on["tools/list"]
      on["tools/list"] = () => { process.stderr.write("list " + ++lists + "\\n"); return list() }`)
    await using evil = await createMCPClient("evil", { ...storm, logger: silentLogger })

    const { meta } = await evil.client.callTool("echo", {})

    expect(meta).toMatchObject({ content: [{ text: "over" }] })
    await until(() => evil.status().stderrTail?.includes("list 2") === true)
    expect(evil.status().stderrTail).not.toContain("list 5")
  })
})

describe("silence", () => {
  test("at the start is given up, and the child is gone", async () => {
    const folder = await mkdtemp(join(tmpdir(), "attack-"))
    const server = open({
      ...awkward({ hangAtStart: true, ignoreTerm: true, pidFile: join(folder, "pid") }),
      connectTimeout: 500,
    })

    expect(await failure(server.connection.connect())).toMatchObject({ code: "TIMEOUT" })
    await server.connection.close()

    const { readFileSync } = await import("node:fs")
    const pids = readFileSync(join(folder, "pid"), "utf8").trim().split("\n").map(Number)
    await until(() => pids.every((pid) => !isAlive(pid)))
    await rm(folder, { recursive: true })
  })

  test("in a call is given up, and the server is told", async () => {
    await using server = open({ ...awkward(), timeout: 300 })

    expect(await failure(server.call("hang"))).toMatchObject({
      code: "TIMEOUT",
      mayHaveExecuted: true,
    })
    const { cancelled } = await server.ask("cancelled")
    expect(cancelled).toHaveLength(1)
  })

  test("that drips a byte now and then is given up as well", async () => {
    await using remote = await hostile({
      "tools/call": (_seen, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const drip = setInterval(() => response.write(": still here\n\n"), 20)
        response.on("close", () => clearInterval(drip))
        return undefined
      },
    })
    await using server = open({ url: remote.url, timeout: 300 })

    expect(await failure(server.call("echo"))).toMatchObject({ code: "TIMEOUT" })
  })

  test("that makes progress for ever is given up in the end", async () => {
    await using server = open({ ...awkward(), timeout: 200, maxTotalTimeout: 600 })
    const started = Date.now()

    const call = server.call("slow_progress", { count: 10_000, ms: 20 })

    expect(await failure(call)).toMatchObject({ code: "TIMEOUT" })
    expect(Date.now() - started).toBeLessThan(TOO_LONG)
  })
})

describe("a child that dies", () => {
  test.each([{ code: 3 }, { signal: "SIGKILL" }, { signal: "SIGSEGV" }])(
    "in a call fails all that run, soon, and the next call works: %j",
    async (how) => {
      await using server = open(awkward())
      const waiting = Array.from({ length: 20 }, () => failure(server.call("hang")))
      await server.call("echo", { text: "up" })
      const started = Date.now()

      const error = await failure(server.call("crash", how))
      const others = await Promise.all(waiting)

      expect(Date.now() - started).toBeLessThan(TOO_LONG)
      for (const one of [error, ...others]) {
        expect(one).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
      }
      expect(textOf(await server.call("echo", { text: "again" }))).toBe("again")
    },
  )
})

describe("frames that are wrong", () => {
  test.each(["legacy", "modern"] as const)("harm nobody (%s)", async (era) => {
    await using server = open(awkward({ era }))

    expect(textOf(await server.call("bad_frames"))).toBe("still here")
    expect(textOf(await server.call("twice"))).toBe("first")
    expect(textOf(await server.call("echo", { text: "next" }))).toBe("next")
    expect(server.connection.status.restarts).toBe(0)
  })

  test("of any depth, kind and owner harm nobody", async () => {
    const evil = scripted(`
      on["tools/call"] = (params, id) => {
        const deep = "[".repeat(100000) + "]".repeat(100000)
        const raw = [deep, '[' + deep + ']', '{"jsonrpc":"2.0","id":' + deep + ',"result":{}}',
          '{"jsonrpc":"2.0","method":"notifications/progress","params":' + deep + '}',
          '{"jsonrpc":"2.0","id":"__proto__","result":{}}', '{"jsonrpc":"2.0","id":-1,"error":null}',
          '{"jsonrpc":"2.0","id":' + (id + 1) + ',"result":{"content":[{"type":"text","text":"stolen"}]}}',
          '{"jsonrpc":"2.0","id":1e400,"result":{}}', '{"jsonrpc":"2.0","method":7}', '{"jsonrpc":"2.0","id":true,"method":"ping"}',
          '{"jsonrpc":"2.0","method":"__proto__"}', '{"jsonrpc":"2.0","id":"x","method":"constructor","params":[]}',
          '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":' + id + '}}']
        for (const line of raw) process.stdout.write(line + "\\n")
        return { content: [{ type: "text", text: JSON.stringify(params.arguments) }] }
      }`)
    await using server = open(evil)

    expect(textOf(await server.call("echo", { turn: 1 }))).toBe('{"turn":1}')
    expect(textOf(await server.call("echo", { turn: 2 }))).toBe('{"turn":2}')
    expect(server.connection.status.restarts).toBe(0)
  })

  test("that answer for somebody else's request answer nobody", async () => {
    await using remote = await hostile({
      "tools/call": ({ message }, response) => {
        const result = { content: [{ type: "text", text: "mine" }] }
        return json(response, 200, { jsonrpc: "2.0", id: `${String(message.id)}0`, result })
      },
    })
    await using server = open({ url: remote.url, timeout: 500 })

    const error = await failure(server.call("echo"))
    expect(["TIMEOUT", "UNAVAILABLE", "EXECUTION_ERROR"]).toContain(error.code)
  })
})

describe("what a server must not get", () => {
  test("arguments of a command are never read by a shell", async () => {
    const folder = await mkdtemp(join(tmpdir(), "attack-"))
    const canary = join(folder, "canary")
    const evil = [
      `; touch ${canary}`,
      `$(touch ${canary})`,
      `\`touch ${canary}\``,
      `\n touch ${canary}`,
      `| touch ${canary}`,
      `& touch ${canary} &`,
    ]
    const { command, args } = scripted(
      `on["tools/call"] = () => ({ content: [], structuredContent: { argv: process.argv.slice(1) } })`,
    )
    await using server = open({ command, args: [...args, "--", ...evil] })

    const { argv } = await server.ask("echo")

    expect(argv).toEqual(evil)
    expect(existsSync(canary)).toBe(false)
    await rm(folder, { recursive: true })
  })

  test("the environment of the host, but for what was named", async () => {
    process.env["ATTACK_SECRET"] = "host-secret-1"
    process.env["ATTACK_NAMED"] = "named"
    try {
      await using server = open({ ...awkward(), inheritEnv: ["ATTACK_NAMED"] })
      const environment = await server.ask("environment")
      expect(JSON.stringify(environment)).not.toContain("host-secret-1")
      expect(environment["ATTACK_NAMED"]).toBe("named")
    } finally {
      delete process.env["ATTACK_SECRET"]
      delete process.env["ATTACK_NAMED"]
    }
  })

  test("credentials over plain HTTP, by whatever name they go", async () => {
    const sent: unknown[] = []
    const spy: typeof fetch = async (url) => {
      sent.push(url)
      return new Response(null, { status: 500 })
    }
    const url = "http://mcp.example.com/mcp"
    const ways = [
      ...[
        "Authorization",
        "Cookie",
        "X-Api-Key",
        "X-Auth",
        "X-Auth-Key",
        "X-Access-Key",
        "X-Functions-Key",
        "Api-Key",
        "X-Password",
      ].map((name) => ({ url, headers: { [name]: "secret-value-1" } })),
      { url: `${url}?api_key=secret-value-1` },
      { url: `${url}?access_token=secret-value-1` },
      { url, authProvider: { token: async () => "secret-value-1" } },
    ]

    for (const config of ways) {
      await using server = open({ ...config, fetch: spy })
      const error = await failure(server.connection.connect())
      expect({ config, code: error.code }).toEqual({ config, code: "EGRESS_BLOCKED" })
      expect(error.message).not.toContain("secret-value-1")
    }
    expect(sent).toEqual([])
  })

  test("anything but plain parameters in headers that mirror them", async () => {
    await using remote = await serveAwkward({ era: "modern", groups: "headers" })
    await using evil = await createMCPClient("evil", { url: remote.url, logger: silentLogger })

    for (const region of ["a\r\nX-Evil: 1", "ü\u{1F642}", "\0", " x ", "=?base64?eA==?="]) {
      await evil.client.callTool("region", { region }).catch((error: unknown) => error)
    }

    expect(remote.requests.filter(({ headers }) => "x-evil" in headers)).toEqual([])
  })

  test("input that is no data", async () => {
    await using remote = await hostile()
    await using evil = await createMCPClient("evil", { url: remote.url, logger: silentLogger })
    const before = remote.seen.length
    const deep: unknown[] = []
    let at = deep
    for (let depth = 0; depth < 10_000; depth++) at.push((at = []))

    for (const input of [
      { deep },
      { toJSON: () => ({ stolen: 1 }) },
      { big: 1n },
      {
        get x() {
          throw new Error("no")
        },
      },
    ]) {
      expect(await rejection(evil.client.callTool("echo", input))).toMatchObject({
        code: "VALIDATION_ERROR",
      })
    }
    expect(remote.seen.length).toBe(before)
  })
})
