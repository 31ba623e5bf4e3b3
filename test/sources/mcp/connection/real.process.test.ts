import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, test, vi } from "vitest"
import { definitionOf, failure, open, textOf } from "./support.ts"
import { freePort } from "../../../support/free-port.ts"
import { waitFor } from "../../../support/wait-for.ts"

const MODULES = join(import.meta.dirname, "../../../../node_modules")
const EVERYTHING = join(MODULES, "@modelcontextprotocol/server-everything/dist/index.js")
const FILESYSTEM = join(MODULES, "@modelcontextprotocol/server-filesystem/dist/index.js")
const CONTEXT7 = join(MODULES, "@upstash/context7-mcp/dist/index.js")

const started: ChildProcess[] = []

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null) continue
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await gone
  }
})

/** Starts a server over HTTP, and waits until it says that it listens. */
async function serve(script: string, kind: string): Promise<number> {
  const port = await freePort()
  const child = spawn(process.execPath, [script, kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  })
  started.push(child)
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      if (/listening|running on port|port \d/i.test(String(chunk))) resolve()
    }
    child.stdout?.on("data", look)
    child.stderr?.on("data", look)
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)))
  })
  return port
}

async function expectEverything(server: ReturnType<typeof open>): Promise<void> {
  const { connection } = server
  const seen: unknown[] = []

  const { items } = await connection.list("tools")
  const echo = await server.call("echo", { message: "hi" })
  const slow = await connection.callTool(
    await definitionOf(connection, "trigger-long-running-operation"),
    { duration: 0.3, steps: 3 },
    { progress: (update) => seen.push(update) },
  )
  const structured = await connection.callTool(
    await definitionOf(connection, "get-structured-content"),
    { location: "New York" },
    {},
  )

  expect(items.length).toBeGreaterThan(12)
  expect(textOf(echo)).toBe("Echo: hi")
  expect(slow.content).toHaveLength(1)
  expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })))
  expect(structured.structuredContent).toHaveProperty("temperature")
  expect((await connection.list("resources")).items.length).toBeGreaterThan(0)
  expect((await connection.list("prompts")).items.length).toBeGreaterThan(0)
  const { isError } = await server.call("no-such-tool").then(
    (result) => result,
    () => ({ isError: true }),
  )
  expect(isError).toBe(true)
}

describe("the server with everything", () => {
  test("over stdio, and nothing is written to the console", async () => {
    const lines = ["log", "debug", "info", "warn", "error"].map((level) =>
      vi.spyOn(console, level as "log").mockImplementation(() => {}),
    )
    await using server = open({ command: process.execPath, args: [EVERYTHING, "stdio"] })

    await expectEverything(server)

    for (const line of lines) {
      expect(line).not.toHaveBeenCalled()
      line.mockRestore()
    }
  })

  test("over HTTP", async () => {
    const port = await serve(EVERYTHING, "streamableHttp")
    await using server = open({ url: `http://127.0.0.1:${port}/mcp` })

    await expectEverything(server)

    expect(server.connection.peer).toMatchObject({ era: "legacy" })
  })

  test("over the old transport", async () => {
    const port = await serve(EVERYTHING, "sse")
    await using server = open({ url: `http://127.0.0.1:${port}/sse`, type: "sse" })

    await expectEverything(server)

    expect(server.connection.peer).toMatchObject({ era: "legacy" })
  })

  test("asks, over HTTP too", async () => {
    const port = await serve(EVERYTHING, "streamableHttp")
    await using server = open({ url: `http://127.0.0.1:${port}/mcp`, forwardInput: true })
    const asked: unknown[] = []

    const result = await server.call(
      "trigger-elicitation-request",
      {},
      {
        async requestInput(request) {
          asked.push(request.type)
          return { action: "accept", content: { name: "Ada" } }
        },
      },
    )

    // Some time after the start the server asks for roots by itself.
    expect(asked.filter((type) => type !== "roots")).toEqual(["form"])
    expect(JSON.stringify(result)).toContain("Ada")
  })

  test("is opened anew when its process is replaced", async () => {
    const port = await serve(EVERYTHING, "streamableHttp")
    await using server = open({ url: `http://127.0.0.1:${port}/mcp` })
    await server.call("echo", { message: "first" })
    const child = started.splice(0)[0]
    const gone = new Promise((resolve) => child?.once("exit", resolve))
    child?.kill("SIGKILL")
    await gone

    expect(await failure(server.call("echo", { message: "down" }))).toMatchObject({
      code: "UNAVAILABLE",
    })
    const again = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    })
    started.push(again)
    await new Promise<void>((resolve) => again.stderr?.once("data", () => resolve()))
    await waitFor(async () => {
      expect(textOf(await server.call("echo", { message: "up" }))).toBe("Echo: up")
    })
  })
})

test("the file system server gives files of any size that is allowed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "operations-files-"))
  const file = join(folder, "large.txt")
  writeFileSync(file, "0123456789".repeat(1_200_000))
  await using server = open({ command: process.execPath, args: [FILESYSTEM, folder] })
  const definition = await definitionOf(server.connection, "read_text_file")

  const result = await server.connection.callTool(definition, { path: file }, {})

  expect(definition.outputSchema).toBeDefined()
  expect(String(textOf(result as Record<string, unknown>))).toHaveLength(12_000_000)
  expect(await server.call("read_text_file", { path: "/etc/passwd" })).toMatchObject({
    isError: true,
  })
})

test.each(["modern", "auto"] as const)("a server of both eras, asked for %s", async (era) => {
  await using server = open({ command: process.execPath, args: [CONTEXT7], era })

  const { items } = await server.connection.list("tools")

  expect(items).toHaveLength(2)
  expect(server.connection.peer?.era).toBe(era === "modern" ? "modern" : "legacy")
})
