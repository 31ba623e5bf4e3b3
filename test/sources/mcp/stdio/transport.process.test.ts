// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test, vi } from "vitest"
import { isCallError } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { rejection } from "../../../support/operations.ts"
import { child, running } from "./support.ts"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "child-transport-")))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const text = (method: string, params: unknown = {}): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`

/** A child that says these pieces, then "end". */
async function saying(pieces: readonly string[], warn = vi.fn()) {
  const logger = { ...silentLogger, warn }
  const observed = await running(["wild", JSON.stringify([...pieces, text("end")])], { logger })
  await observed.next("end")
  return { observed, said: observed.messages.slice(1, -1), warn }
}

describe("messages of a child", () => {
  test("come as they were sent, and go as they are given", async () => {
    const { transport, next } = await running(["echo"])

    await transport.send({ jsonrpc: "2.0", id: 1, text: 'line\nbreak "ü" \u2028 😀' })

    const { line } = await next("echo")
    expect(JSON.parse(String(line))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      text: 'line\nbreak "ü" \u2028 😀',
    })
  })

  test("a thousand at once keep their order", async () => {
    const { transport, next } = await running(["echo"])

    const sent = Array.from({ length: 1000 }, (_, id) =>
      transport.send({ id, pad: "x".repeat(500) }),
    )
    await Promise.all(sent)

    for (let id = 0; id < 1000; id++) {
      expect(JSON.parse(String((await next("echo"))["line"]))).toMatchObject({ id })
    }
  })

  test("are found between noise, blank lines and lines that end with CRLF", async () => {
    const { observed, said, warn } = await saying([
      "Server starting...\n\n   \n",
      `${text("one").trim()}\r\n`,
      `{"level":30,"msg":"structured log"}\n{broken\n[1,2]\nnull\n42\n"text"\n[]\n`,
      `\uFEFF${text("two")}`,
      text("three"),
    ])

    expect(said.map(({ method }) => method)).toEqual(["one", "two", "three"])
    expect(observed.transport.droppedLines).toBe(8)
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn.mock.calls[0]?.[0]).toContain('MCP server "test" writes lines to stdout')
    expect(JSON.stringify(warn.mock.calls)).not.toContain("structured log")
  })

  test("of a batch come one by one", async () => {
    const { said } = await saying([`[${text("one").trim()},${text("two").trim()}]\n`])

    expect(said.map(({ method }) => method)).toEqual(["one", "two"])
  })

  test("keep a character that two writes share, and last words without a line end are no message", async () => {
    const { said } = await saying(["{", '"jsonrpc":"2.0",', '"method":"ü😀"}', "\n"])

    expect(said.map(({ method }) => method)).toEqual(["ü😀"])
  })

  test("messages are received to the last when the child ends", async () => {
    const observed = child(["crash"])
    await observed.transport.start()
    await observed.closed

    expect(observed.messages.map(({ method }) => method)).toEqual(["ready", "last words"])
    expect(observed.transport.exit).toEqual({ code: 3, signal: null })
    expect(observed.transport.stderrTail()).toBe("no database at db.example\n")
    expect(observed.transport.failure).toBeUndefined()
  })

  test("messages are received to the last when the host was busy while the child ended", async () => {
    const observed = child(["crash"])
    const { onmessage } = observed.transport
    observed.transport.onmessage = (message) => {
      onmessage?.(message)
      if (observed.messages.length > 1) return
      const end = performance.now() + 400
      while (performance.now() < end);
    }
    await observed.transport.start()
    await observed.closed

    expect(observed.messages.map(({ method }) => method)).toEqual(["ready", "last words"])
  })

  test("survive a listener that throws", async () => {
    const observed = await running(["echo"])
    const { onmessage } = observed.transport
    observed.transport.onmessage = (message) => {
      onmessage?.(message)
      throw new Error("mine")
    }

    await observed.transport.send({ n: 1 })
    await observed.next("echo")
    await observed.transport.send({ n: 2 })
    await observed.next("echo")

    expect(observed.errors.map(({ message }) => message)).toEqual(["mine", "mine"])
  })
})

describe("limits", () => {
  test("a message that does not end ends the child, and says which limit it was", async () => {
    const observed = child(["flood"], { maxMessageBytes: 2_000_000 })
    await observed.transport.start()
    await observed.closed

    const { failure } = observed.transport
    expect(failure).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      retryable: false,
      mayHaveExecuted: true,
      message:
        'MCP server "test" sent a message of more than 2000000 bytes and was ended. Raise "maxMessageBytes" if such messages are expected.',
    })
    expect(observed.errors).toEqual([failure])
    expect(observed.closes).toBe(1)
    // It is killed, unless it is faster in failing to write to a pipe that nobody reads.
    expect([
      { code: null, signal: "SIGKILL" },
      { code: 1, signal: null },
    ]).toContainEqual(observed.transport.exit)
  })

  test("a message of just the limit passes", async () => {
    const line = text("big", { pad: "x".repeat(5000) })
    const observed = child(["wild", JSON.stringify(line)], { maxMessageBytes: line.length - 1 })
    await observed.transport.start()

    expect(await observed.next("big")).toEqual({ pad: "x".repeat(5000) })
  })

  test("a flood on standard error is cut to its end, and does not stop the child", async () => {
    const { transport, next } = await running(["noisy"])

    await transport.send({ hello: 1 })
    await next("echo")

    const tail = transport.stderrTail()
    expect(new TextEncoder().encode(tail).length).toBeLessThanOrEqual(65_536)
    expect(tail.length).toBeGreaterThan(30_000)
    expect(tail).toMatch(/^é+the end$/)
  })

  test("who sends to a child that does not read waits, until there is nobody to wait for", async () => {
    const { transport } = await running(["deaf"])

    let isSettled = false
    const sent = rejection(transport.send({ pad: "x".repeat(8_000_000) })).finally(() => {
      isSettled = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(isSettled).toBe(false)

    await transport.close()
    expect(await sent).toMatchObject({ code: "UNAVAILABLE" })
  })

  test("sending more than a pipe holds arrives whole", async () => {
    const { transport, next } = await running(["echo"], { maxMessageBytes: 30_000_000 })
    const message = { pad: "ü".repeat(3_000_000) }

    await transport.send(message)

    expect(JSON.parse(String((await next("echo"))["line"]))).toEqual(message)
  })
})

describe("a child that goes away", () => {
  test("by a signal is reported with that signal, once", async () => {
    const observed = await running(["deaf"])

    process.kill(observed.transport.pid ?? 0, "SIGSEGV")
    await observed.closed
    await observed.transport.close()

    expect(observed.transport.exit).toEqual({ code: null, signal: "SIGSEGV" })
    expect(observed.closes).toBe(1)
    const error = await rejection(observed.transport.send({}))
    expect(isCallError(error, "UNAVAILABLE")).toBe(true)
    expect(String(error)).toContain('MCP server "test" cannot be reached: it has ended (SIGSEGV).')
  })

  test("from its input only is an error for who sends, and for nobody else", async () => {
    const observed = child([], {
      command: "/bin/sh",
      args: ["-c", `exec 0<&-; echo '{"jsonrpc":"2.0","method":"deaf"}'; exec sleep 100`],
    })
    await observed.transport.start()
    await observed.next("deaf")

    expect(await rejection(observed.transport.send({ pad: "x".repeat(500_000) }))).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
    })
    expect(observed.errors).toEqual([])
  })

  test("from its output only is ended, with a reason", async () => {
    const observed = await running(["mute"])
    await observed.closed

    expect(observed.transport.failure).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    expect(observed.transport.failure?.message).toContain("closed its stdout")
    expect(observed.transport.exit).toEqual({ code: null, signal: "SIGKILL" })
  })
})

describe("starting", () => {
  test("arguments are never read by a shell", async () => {
    const canary = join(folder, "canary")
    const nasty = [
      `; touch ${canary}`,
      `$(touch ${canary})`,
      `\`touch ${canary}\``,
      `&& touch ${canary}`,
      `line\nbreak`,
      `' " \\ * ? ~ $HOME %PATH% !`,
      "",
      "-e",
    ]
    const observed = child(["echo", ...nasty])
    await observed.transport.start()

    expect((await observed.next("ready"))["args"]).toEqual(nasty)
    expect(existsSync(canary)).toBe(false)
  })

  test("a command with a shell's syntax is the name of a program", async () => {
    const canary = join(folder, "canary2")

    const error = await rejection(
      child([], { command: `touch ${canary}`, args: [] }).transport.start(),
    )

    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: false })
    expect(String(error)).toContain('put what follows it into "args"')
    expect(existsSync(canary)).toBe(false)
  })

  test("the child has the environment and the folder that it was given, and nothing else", async () => {
    vi.stubEnv("SECRET_OF_THE_HOST", "hunter2")
    const observed = child(["echo"], { env: { PATH: "/bin", OWN: "mine" }, cwd: folder })
    await observed.transport.start()

    const { env, cwd } = await observed.next("ready")
    vi.unstubAllEnvs()
    expect(env).toEqual({ PATH: "/bin", OWN: "mine" })
    expect(cwd).toBe(folder)
  })

  test.each([
    ["a program that is missing", { command: "no-such-program-here" }, /ENOENT.*Install it/],
    ["a file that is no program", { command: import.meta.filename }, /EACCES.*permission/],
    [
      "a folder that is missing",
      { cwd: "/no/such/folder" },
      /"cwd" is not an accessible folder.*\/no\/such/,
    ],
    ["a folder that is a file", { cwd: import.meta.filename }, /"cwd" is not an accessible folder/],
    ["too much of everything", { args: ["x".repeat(5_000_000)] }, /E2BIG.*smaller/],
  ])("%s is reported with what to do", async (_, parts, words) => {
    const { transport, ...observed } = child(["echo"], parts)

    const error = await rejection(transport.start())

    expect(isCallError(error)).toBe(true)
    expect(String(error)).toMatch(words)
    expect(transport.pid).toBeUndefined()
    await transport.close()
    expect(observed.errors).toEqual([])
  })

  test("happens once", async () => {
    const { transport } = await running(["echo"])

    expect(await rejection(transport.start())).toBeInstanceOf(TypeError)
  })

  test("does not happen after close, nor when close comes in between", async () => {
    const before = child(["echo"])
    await before.transport.close()
    expect(await rejection(before.transport.start())).toMatchObject({ code: "UNAVAILABLE" })
    expect(before.closes).toBe(1)

    const between = child(["echo"])
    const started = rejection(between.transport.start())
    await between.transport.close()
    expect(await started).toMatchObject({ code: "UNAVAILABLE" })
    expect(between.transport.pid).toBeUndefined()
    expect(between.closes).toBe(1)
  })

  test("comes before sending", async () => {
    expect(await rejection(child(["echo"]).transport.send({}))).toMatchObject({
      code: "UNAVAILABLE",
      message: 'MCP server "test" cannot be reached: it was not started.',
    })
  })
})
