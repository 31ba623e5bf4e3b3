import process from "node:process"
import { PassThrough } from "node:stream"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import type { Logger } from "../../../src/index.ts"
import { Responder } from "../../../src/serve/mcp/responder.ts"
import { ToolSurface } from "../../../src/tools/surface.ts"
import { serveStdio } from "../../../src/serve/mcp/stdio.ts"
import type { StdioConnection, StdioOptions } from "../../../src/serve/mcp/stdio.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { waitFor } from "../../support/wait-for.ts"

/** The other end of standard input and output. */
interface Client {
  readonly stdin: PassThrough
  readonly surface: ToolSurface
  /** The client goes. */
  leave(): void
}

function client(): Client {
  const stdin = new PassThrough()
  return { stdin, surface: new ToolSurface(quietRegistry()), leave: () => void stdin.emit("end") }
}

interface Parts extends StdioOptions {
  readonly closeAll?: () => Promise<void>
  readonly logger?: Logger
}

const open: StdioConnection[] = []
const handlers = new Map<string, () => void>()
const exits: unknown[] = []

async function serve(
  one: Client,
  { closeAll, logger, ...options }: Parts,
): Promise<StdioConnection> {
  vi.spyOn(process, "stdin", "get").mockReturnValue(one.stdin as never)
  const connection = await serveStdio(
    {
      responder: new Responder(one.surface, {}, logger ?? silentLogger),
      closeAll: closeAll ?? (async () => undefined),
    },
    options,
  )
  open.push(connection)
  return connection
}

beforeEach(() => {
  handlers.clear()
  exits.length = 0
  vi.spyOn(process, "exit").mockImplementation((code) => exits.push(code) as never)
  const listen = process.once.bind(process) as (type: string, listener: () => void) => unknown
  vi.spyOn(process, "once").mockImplementation(((type: string, listener: () => void) => {
    if (type.startsWith("SIG")) handlers.set(type, listener)
    else listen(type, listener)
    return process
  }) as never)
  const forget = process.off.bind(process) as (type: string, listener: () => void) => unknown
  vi.spyOn(process, "off").mockImplementation(((type: string, listener: () => void) => {
    if (handlers.get(type) === listener) handlers.delete(type)
    else forget(type, listener)
    return process
  }) as never)
})

afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe("a program that goes on when its client is gone", () => {
  test("keeps its signals, and standard output is its own again", async () => {
    const one = client()
    const write: unknown = Reflect.get(process.stdout, "write")
    const connection = await serve(one, { exit: false })

    expect(handlers.size).toBe(0)
    expect(Reflect.get(process.stdout, "write")).not.toBe(write)
    one.leave()
    one.leave()
    await connection.closed

    expect(Reflect.get(process.stdout, "write")).toBe(write)
    expect(one.stdin.listenerCount("data")).toBe(0)
    expect(exits).toEqual([])
  })

  test("serves one client at a time, and another one after it", async () => {
    const first = await serve(client(), { exit: false })

    expect(await rejection(serve(client(), { exit: false }))).toMatchObject({
      name: "TypeError",
      message: expect.stringContaining("served already"),
    })
    await first.close()
    await using second = await serve(client(), { exit: false })
    expect(second.closed).toBeInstanceOf(Promise)
  })

  test("logs what the connection reports", async () => {
    const debug = vi.fn()
    const one = client()
    await serve(one, { exit: false, logger: { ...silentLogger, debug } })
    const error = new Error("half a message")

    one.stdin.emit("error", error)

    expect(debug).toHaveBeenCalledExactlyOnceWith("The MCP connection reported", { error })
  })
})

describe("a program that is nothing but a server", () => {
  // The timer that ends the process in any case must not end this one.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))

  test("closes everything and exits when its client goes", async () => {
    const one = client()
    const closeAll = vi.fn(async () => undefined)
    const connection = await serve(one, { closeAll })
    expect([...handlers.keys()]).toEqual(["SIGTERM", "SIGINT", "SIGHUP"])

    one.leave()
    await connection.closed
    await waitFor(() => expect(exits).toEqual([0]))

    expect(closeAll).toHaveBeenCalledOnce()
    expect(one.stdin.listenerCount("data")).toBe(0)
    expect(handlers.size).toBe(0)
  })

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ])("exits after %s with %i, once", async (signal, code) => {
    const one = client()
    const closeAll = vi.fn(async () => undefined)
    await serve(one, { closeAll })

    handlers.get(signal)?.()
    handlers.get("SIGINT")?.()
    await waitFor(() => expect(exits).toEqual([code]))

    expect(closeAll).toHaveBeenCalledOnce()
  })

  test("exits also when closing fails, and says so", async () => {
    const error = vi.fn()
    const thrown = new Error("no")
    const one = client()
    await serve(one, {
      logger: { ...silentLogger, error },
      closeAll: () => Promise.reject(thrown),
    })

    one.leave()
    await waitFor(() => expect(exits).toEqual([0]))

    expect(error).toHaveBeenCalledExactlyOnceWith("Closing failed", { error: thrown })
  })

  test("exits also when closing never ends", async () => {
    const one = client()
    await serve(one, { closeAll: () => new Promise(() => undefined) })

    one.leave()
    await vi.advanceTimersByTimeAsync(1499)
    expect(exits).toEqual([])
    await vi.advanceTimersByTimeAsync(1)

    expect(exits).toEqual([0])
  })

  test("goes on when it closes the connection itself", async () => {
    const one = client()
    const connection = await serve(one, {})

    await connection.close()
    one.leave()

    expect(exits).toEqual([])
    expect(handlers.size).toBe(0)
  })
})

test("a platform without a process cannot serve one", async () => {
  vi.doMock("node:process", () => {
    throw new Error("no such module")
  })
  vi.resetModules()
  try {
    const fresh = await import("../../../src/serve/mcp/stdio.ts")
    const parts = {} as Parameters<typeof fresh.serveStdio>[0]
    expect(await rejection(fresh.serveStdio(parts, {}))).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      message: "stdio(): this platform has no process of Node.",
    })
  } finally {
    vi.doUnmock("node:process")
    vi.resetModules()
  }
})
