import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { describe, expect, test } from "vitest"
import { awkward } from "../support/awkward.ts"
import { definitionsOf } from "./definitions.ts"
import { faultsOf, parseFlags, toFlags } from "./faults.ts"
import { serveAwkward } from "./http.ts"
import { AwkwardPeer, VERSION_KEY } from "./peer.ts"
import type { Faults } from "./faults.ts"

const MODERN = { _meta: { [VERSION_KEY]: "2026-07-28" } }

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: { readonly tools?: unknown[]; readonly nextCursor?: string }
  readonly error?: { readonly code: number }
}

/** A server without a transport: what it sends to one request. */
async function ask(faults: Partial<Faults>, method: string, params: object): Promise<Message[]> {
  const sent: Message[] = []
  const peer = new AwkwardPeer(faultsOf(faults), { crash: () => undefined, describe: () => ({}) })
  const link = { send: (message: object) => sent.push(message), raw: () => undefined }
  peer.receive({ jsonrpc: "2.0", id: 1, method, params }, link)
  await new Promise((resolve) => setImmediate(resolve))
  return sent
}

/** A request over HTTP by hand. */
async function post(url: string, message: object, headers: HeadersInit = {}): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message })
  return await fetch(url, { method: "POST", body, headers })
}

describe("faults of an awkward server", () => {
  test("are the same as flags and as options", () => {
    const faults = faultsOf({ era: "modern", crashAfter: 2, emptyCursor: true, groups: "names" })
    const flags = toFlags({ era: "modern", crashAfter: 2, emptyCursor: true, groups: "names" })

    expect(flags).toEqual(["--era=modern", "--crash-after=2", "--empty-cursor", "--groups=names"])
    expect(parseFlags(flags, faultsOf({}))).toEqual(faults)
    expect(() => parseFlags(["--no-such-thing"], faultsOf({}))).toThrow("--no-such-thing")
    expect(() => definitionsOf(faultsOf({ groups: "nobody" }))).toThrow("nobody")
  })

  test.each([
    [{ pages: 3 }, undefined, "page-1"],
    [{ pages: 3 }, "page-2", undefined],
    [{ pages: 3, emptyCursor: true }, undefined, ""],
    [{ pages: 3, loop: true }, "page-2", "page-1"],
    [{ endless: true }, "page-700", "page-701"],
  ])("with %j page %s is followed by %s", async (faults, cursor, next) => {
    const [answer] = await ask(faults, "tools/list", { cursor })

    expect(answer?.result?.nextCursor).toBe(next)
  })

  test("of eras show in what is refused", async () => {
    const [legacy] = await ask({ era: "legacy" }, "server/discover", MODERN)
    const [modern] = await ask({ era: "modern" }, "initialize", { protocolVersion: "2025-11-25" })

    expect(legacy?.error?.code).toBe(-32601)
    expect(modern?.error?.code).toBe(-32022)
    expect(await ask({ era: "legacy", silent: true }, "server/discover", MODERN)).toEqual([])
  })
})

describe("the awkward server as a process", () => {
  test("answers in pieces, makes noise, and ends with its own code", async () => {
    const { command, args } = awkward({ noise: true, chunks: true, crashOnCall: true })
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] })
    const lines: string[] = []
    createInterface(child.stdout).on("line", (line) => lines.push(line))
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await expect.poll(() => lines).toContain('{"jsonrpc":"2.0","id":1,"result":{}}')
    child.stdin.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}\n')
    const [code] = (await once(child, "close")) as [number]

    expect(code).toBe(3)
    expect(lines).toContain("{not json")
  })
})

describe("the awkward server over HTTP", () => {
  test("forgets sessions when it is told to", async () => {
    await using server = await serveAwkward({ era: "legacy" })
    const first = await post(server.url, { id: 1, method: "initialize", params: {} })
    const session = { "mcp-session-id": first.headers.get("mcp-session-id") ?? "" }

    expect((await post(server.url, { id: 2, method: "ping" }, session)).status).toBe(200)
    server.expire()
    expect((await post(server.url, { id: 3, method: "ping" }, session)).status).toBe(404)
    server.faults.expired = 400
    expect((await post(server.url, { id: 4, method: "ping" }, session)).status).toBe(400)
  })

  test("refuses, cuts streams and sees which calls were given up", async () => {
    await using server = await serveAwkward({ dropCalls: 1, token: "secret" })
    const call = { id: 1, method: "tools/call", params: { name: "hang", ...MODERN } }
    const headers = { authorization: "Bearer secret" }

    expect((await post(server.url, call)).status).toBe(401)
    const cut = await post(server.url, call, headers)
    await expect(cut.text()).rejects.toThrow("terminated")
    const stop = new AbortController()
    const body = JSON.stringify({ jsonrpc: "2.0", ...call })
    const lost = fetch(server.url, { method: "POST", body, headers, signal: stop.signal })
    await expect.poll(() => server.peer.calls).toBe(2)
    stop.abort()
    await expect(lost).rejects.toThrow("aborted")
    await expect.poll(() => server.peer.cancelled).toMatchObject([{ id: 1, tool: "hang" }])
  })
})
