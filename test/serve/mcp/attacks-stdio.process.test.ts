import { spawn } from "node:child_process"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { resolve } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { until } from "../../http-client/server.ts"
import { program } from "../../sources/mcp/support/program.ts"
import { TOO_LONG } from "../../support/patience.ts"

const children: ChildProcessWithoutNullStreams[] = []
afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL")
})

interface Victim {
  readonly child: ChildProcessWithoutNullStreams
  readonly lines: string[]
  stderr: string
  exited: boolean
  write(text: string): void
  ask(id: number, method: string, params?: object): Promise<Record<string, unknown>>
}

async function start(): Promise<Victim> {
  const script = program(resolve(import.meta.dirname, "support/stdio-server.ts"))
  const child = spawn(process.execPath, [script])
  children.push(child)
  const victim: Victim = {
    child,
    lines: [],
    stderr: "",
    exited: false,
    write: (text) => void child.stdin.write(text),
    async ask(id, method, params = {}) {
      victim.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
      const found = (): string | undefined =>
        victim.lines.find((line) => line.includes(`"id":${id}`) && !line.includes('"method"'))
      await until(() => found() !== undefined || victim.exited)
      return JSON.parse(found() ?? "{}") as Record<string, unknown>
    },
  }
  let rest = ""
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = `${rest}${chunk.toString()}`.split("\n")
    rest = parts.pop() ?? ""
    victim.lines.push(...parts)
  })
  child.stderr.on("data", (chunk: Buffer) => (victim.stderr += chunk.toString()))
  child.stdin.on("error", () => undefined)
  child.on("exit", () => (victim.exited = true))
  await until(() => victim.stderr.includes("serving"))
  await victim.ask(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  })
  victim.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  return victim
}

const greet = { name: "demo_greet", arguments: { name: "Ada" } }

describe("lines that are no messages", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000)
  const LINES = [
    "garbage",
    "",
    "   ",
    "\r",
    "{",
    "null",
    "42",
    '"text"',
    "[]",
    "{}",
    "\0\0\0",
    "\ufeff{}",
    deep,
    `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`,
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}',
    '{"jsonrpc":"2.0","id":77,"result":{}}',
    '{"jsonrpc":"2.0","id":77,"error":7}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"__proto__"}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":null}',
    '{"jsonrpc":"2.0","id":"__proto__","method":"constructor"}',
    '{"__proto__":{"polluted":1}}',
    String.raw`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`,
    '[{"jsonrpc":"2.0","id":78,"method":"ping"}]',
  ]

  test("harm nobody, and every line that comes back is a message", async () => {
    const victim = await start()

    for (const line of LINES) victim.write(`${line}\n`)
    victim.child.stdin.write(Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0x0a]))
    const answer = await victim.ask(500, "tools/call", greet)
    const noise = await victim.ask(501, "tools/call", { name: "demo_noise", arguments: {} })

    expect(JSON.stringify(answer)).toContain("Hello, Ada")
    expect(JSON.stringify(noise)).toContain("nobody")
    expect(victim.exited).toBe(false)
    for (const line of victim.lines) {
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" })
    }
    expect(victim.lines.join("")).not.toMatch(/RangeError|\.ts:\d|\.mjs:\d/)
    expect(victim.stderr).toContain("noise of console.log")
  })
})

describe("input without an end", () => {
  test("is bounded: the server goes on, or goes away, in little memory", async () => {
    const victim = await start()
    const chunk = Buffer.alloc(1 << 20, "x")
    const { stdin } = victim.child

    const gone = new Promise((done) => void victim.child.once("exit", done))

    for (let sent = 0; sent < 40 && !victim.exited; sent++) {
      if (stdin.write(chunk)) continue
      await Promise.race([new Promise((done) => stdin.once("drain", done)), gone])
    }
    stdin.end()

    await until(() => victim.exited)
    expect(victim.stderr).not.toMatch(/heap|FATAL|uncaught/i)
  })
})

describe("a client that goes", () => {
  test.each(["stdin", "stdout", "both"])(
    "in the middle of a call ends the server: %s",
    async (what) => {
      const victim = await start()
      const params = { name: "demo_wait", arguments: {}, _meta: { progressToken: 1 } }
      victim.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params })}\n`)
      await until(() => victim.lines.some((line) => line.includes("progress")))
      const started = Date.now()

      if (what !== "stdout") victim.child.stdin.end('{"jsonrpc":"2.0","id":3,"meth')
      if (what !== "stdin") victim.child.stdout.destroy()
      // Whoever does not read is noticed with the next thing that is said.
      if (what === "stdout") victim.write('{"jsonrpc":"2.0","id":4,"method":"ping"}\n')

      await until(() => victim.exited)
      expect(Date.now() - started).toBeLessThan(TOO_LONG)
      expect(victim.stderr).not.toMatch(/EPIPE|uncaught/i)
    },
  )

  test("and comes with a hundred calls leaves none of them running", async () => {
    const victim = await start()
    for (let id = 100; id < 200; id++) {
      const params = { name: "demo_wait", arguments: {}, _meta: { progressToken: id } }
      victim.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`)
    }
    await until(() => victim.lines.filter((line) => line.includes("progress")).length >= 100)

    victim.child.stdin.end()

    await until(() => victim.exited)
    expect(victim.stderr.match(/the call was ended/g)).toHaveLength(100)
  })
})
