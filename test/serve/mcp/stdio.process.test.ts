import { spawn } from "node:child_process"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { join } from "node:path"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import type { Client } from "@modelcontextprotocol/client"
import { afterEach, describe, expect, test } from "vitest"
import { until } from "../../http-client/server.ts"
import { program } from "../../sources/mcp/support/program.ts"
import { rejection } from "../../support/operations.ts"
import { clientOf, textOf } from "./support/clients.ts"
import type { Era } from "./support/clients.ts"
import { TOO_LONG } from "../../support/patience.ts"

const SERVER = program(join(import.meta.dirname, "support/stdio-server.ts"))

const children: ChildProcessWithoutNullStreams[] = []
afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL")
})

interface Running {
  readonly child: ChildProcessWithoutNullStreams
  readonly lines: string[]
  stderr: string
  /** Code or signal, and how long after the last `mark` it came. */
  exited: Promise<{ readonly end: number | string | null; readonly after: number }>
  mark(): void
  send(method: string, params?: Record<string, unknown>, id?: number): void
}

/** Starts the server without an SDK on this side. */
async function start(...flags: string[]): Promise<Running> {
  const child = spawn(process.execPath, [SERVER, ...flags])
  children.push(child)
  let since = Date.now()
  const running: Running = {
    child,
    lines: [],
    stderr: "",
    exited: new Promise((resolve) => {
      child.on("exit", (code, signal) =>
        resolve({ end: code ?? signal, after: Date.now() - since }),
      )
    }),
    mark: () => (since = Date.now()),
    send(method, params = {}, id) {
      const message = { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method, params }
      child.stdin.write(`${JSON.stringify(message)}\n`)
    },
  }
  let rest = ""
  child.stdout.on("data", (chunk) => {
    const parts = `${rest}${String(chunk)}`.split("\n")
    rest = parts.pop() ?? ""
    running.lines.push(...parts)
  })
  child.stderr.on("data", (chunk) => (running.stderr += String(chunk)))
  child.stdin.on("error", () => undefined)
  await until(() => running.stderr.includes("serving"))
  return running
}

/** Starts a call that waits until it is ended. */
async function startWaiting(running: Running): Promise<void> {
  running.send(
    "initialize",
    {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "raw", version: "1.0.0" },
    },
    1,
  )
  running.send("notifications/initialized")
  const _meta = { progressToken: 1 }
  running.send("tools/call", { name: "demo_wait", arguments: {}, _meta }, 2)
  await until(() => running.lines.some((line) => line.includes("notifications/progress")))
}

describe.each(["legacy", "modern"] as const)("a client of the %s era over stdio", (era: Era) => {
  test("calls, is asked, hears of changes, cancels, and leaves no process behind", async () => {
    const client: Client = clientOf(era, { elicitation: {} })
    client.setRequestHandler("elicitation/create", () => ({
      action: "accept" as const,
      content: { name: "Ada" },
    }))
    let changes = 0
    client.setNotificationHandler("notifications/tools/list_changed", () => void changes++)
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [SERVER, "--as-ada"],
      stderr: "pipe",
    })
    let stderr = ""
    transport.stderr?.on("data", (chunk) => (stderr += String(chunk)))
    const faults: unknown[] = []
    await client.connect(transport)
    client.onerror = (error) => faults.push(error)

    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("demo_greet")
    expect(textOf(await client.callTool({ name: "demo_noise", arguments: {} }))).toBe("ada")
    for (const noise of ["log", "info", "debug", "table"]) {
      await until(() => stderr.includes(`of console.${noise}`))
    }
    await until(() => stderr.includes("noise of process.stdout"))
    expect(faults).toEqual([])

    expect(textOf(await client.callTool({ name: "demo_ask", arguments: {} }))).toBe("Ada")

    // A client that is busy may read the last update together with the result, and lose it.
    let complete = 0
    for (let calls = 0; calls < 20; calls++) {
      const heard: number[] = []
      const onprogress = ({ progress }: { progress: number }): number => heard.push(progress)
      await client.callTool({ name: "demo_steps", arguments: {} }, { onprogress })
      if (heard.length === 3) complete++
    }
    expect(complete).toBeGreaterThan(10)

    if (era === "modern") await client.listen({ toolsListChanged: true })
    await client.callTool({ name: "demo_grow", arguments: {} })
    await until(() => changes === 1)

    const controller = new AbortController()
    const waiting = client.callTool(
      { name: "demo_wait", arguments: {} },
      { signal: controller.signal, onprogress: () => controller.abort(new Error("enough")) },
    )
    await rejection(waiting)
    await until(() => stderr.includes("the call was ended"))

    const { pid } = transport
    await client.close()
    await until(() => !isAlive(pid ?? 0))
  })
})

describe("a server on standard input and output", () => {
  test("ends its calls and exits when its input ends, whatever else is open", async () => {
    const running = await start()
    await startWaiting(running)
    running.mark()
    running.child.stdin.end()
    const { end, after } = await running.exited
    expect(end).toBe(0)
    expect(after).toBeLessThan(TOO_LONG)
    expect(running.stderr).toContain("the call was ended")
  })

  test("exits in time also when something does not close", async () => {
    const running = await start("--stuck")
    running.mark()
    running.child.stdin.end()
    const { end, after } = await running.exited
    expect(end).toBe(0)
    expect(after).toBeLessThan(TOO_LONG)
  })

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("exits on %s", async (signal, code) => {
    const running = await start()
    await startWaiting(running)
    running.mark()
    running.child.kill(signal)
    const { end, after } = await running.exited
    expect(end).toBe(code)
    expect(after).toBeLessThan(TOO_LONG)
    expect(running.stderr).toContain("the call was ended")
    // Its client is still there, and is answered.
    const answer = running.lines.find((line) => line.includes('"id":2'))
    expect(answer).toContain("has no answer: the server was closed.")
  })

  test("exits when nobody reads its output", async () => {
    const running = await start()
    await startWaiting(running)
    running.child.stdout.destroy()
    running.mark()
    running.send("tools/list", {}, 3)
    const { end, after } = await running.exited
    expect(end).toBe(0)
    expect(after).toBeLessThan(TOO_LONG)
  })

  test("gives standard output back to a program that goes on", async () => {
    const running = await start("--embedded")
    await startWaiting(running)
    running.child.stdin.end()
    const { end } = await running.exited
    expect(end).toBe(0)
    expect(running.stderr).toContain("closed")
    expect(running.lines.at(-1)).toBe("standard output is back")
    for (const line of running.lines.slice(0, -1)) JSON.parse(line)
  })

  test("takes noise, unknown methods and a request before anything else in its stride", async () => {
    const running = await start()
    running.child.stdin.write("this is no JSON\n\n{}\n[1]\n")
    running.send("unknown/method", {}, 1)
    running.send("tools/list", {}, 2)
    await until(() => running.lines.length >= 2)
    const answers = running.lines.map((line) => JSON.parse(line) as { error?: { code: number } })
    expect(answers[0]?.error?.code).toBe(-32601)
    expect(answers[1]).toMatchObject({ id: 2, result: { tools: expect.any(Array) as unknown } })
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
