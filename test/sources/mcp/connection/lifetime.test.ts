import { describe, expect, test, vi } from "vitest"
import { silentLogger } from "../../../../src/testing.ts"
import type { Logger } from "../../../../src/index.ts"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import { systemClock } from "../../../../src/internal/clock.ts"
import { openSession } from "../../../../src/sources/mcp/client/open.ts"
import type { OpenHost } from "../../../../src/sources/mcp/client/open.ts"
import { Secrets } from "../../../../src/sources/mcp/client/mask.ts"
import { RequestTimeout } from "../../../../src/sources/mcp/client/request-timeout.ts"
import { loadSdk } from "../../../../src/sources/mcp/client/sdk.ts"
import { Session } from "../../../../src/sources/mcp/client/session.ts"
import { Supervisor } from "../../../../src/sources/mcp/client/supervisor.ts"
import { failure } from "./support.ts"
import { waitFor } from "../../../support/wait-for.ts"

const NEVER = Number.POSITIVE_INFINITY

interface Peer {
  /** What is sent back for a method; nothing for `undefined`. */
  readonly answers?: (method: string) => unknown
  readonly start?: () => Promise<void>
  readonly sessionId?: string
}

/** A server in the same process. */
function transport({ answers = () => ({}), start = async () => {}, ...parts }: Peer = {}) {
  const made = {
    ...parts,
    onmessage: undefined as ((message: unknown) => void) | undefined,
    onclose: undefined as (() => void) | undefined,
    onerror: undefined as ((error: Error) => void) | undefined,
    sent: [] as string[],
    start,
    async send(message: unknown) {
      const { id, method } = message as { readonly id?: number; readonly method: string }
      made.sent.push(method)
      if (id === undefined) return
      const result = method === "initialize" ? HELLO : answers(method)
      if (result !== undefined) {
        queueMicrotask(() => made.onmessage?.({ jsonrpc: "2.0", id, result }))
      }
    },
    close: vi.fn(async () => made.onclose?.()),
  }
  return made
}

const HELLO = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "own", version: "1" },
}

const timeout = (
  parts: Partial<ConstructorParameters<typeof RequestTimeout>[0]> = {},
): RequestTimeout =>
  new RequestTimeout({ clock: systemClock, subject: "It", idle: NEVER, total: NEVER, ...parts })

interface Config {
  readonly connectTimeout?: number
  readonly logger?: Logger
}

function settled(make: () => unknown, config: Config = {}) {
  return resolveServer("srv", {
    logger: silentLogger,
    transport: make as () => ReturnType<typeof transport>,
    ...config,
  })
}

async function host(make: () => unknown, parts: Partial<OpenHost> & Config = {}) {
  const { connectTimeout = 30_000, logger = silentLogger, ...rest } = parts
  return {
    sdk: await loadSdk(),
    server: settled(make, { connectTimeout, logger }),
    secrets: new Secrets([]),
    era: undefined,
    signal: new AbortController().signal,
    isApproved: true,
    launching: vi.fn(),
    notified: vi.fn(),
    lost: vi.fn(),
    ...rest,
  } satisfies OpenHost
}

function supervisor(make: () => unknown) {
  const listeners = { opened: vi.fn(), notified: vi.fn(), lost: vi.fn() }
  const supervised = new Supervisor({
    server: settled(make),
    clock: systemClock,
    knownEra: undefined,
    ...listeners,
  })
  return { supervised, listeners }
}

describe("opening a session", () => {
  test("takes as long as it takes where there is no limit", async () => {
    const session = await openSession(await host(transport, { connectTimeout: NEVER }))
    expect(session.peer).toMatchObject({ era: "legacy", protocolVersion: "2025-06-18" })
    await session.close()
  })

  test("that nobody wants any more ends at once, and leaves nothing open", async () => {
    const silent = transport({ answers: () => undefined })
    const error = await failure(
      openSession(await host(() => silent, { signal: AbortSignal.abort() })),
    )

    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: false })
    expect(error.message).toContain("closed while it was connecting")
    expect(silent.close).toHaveBeenCalled()
  })

  test("that gets no answer says so, of a transport that has nothing else to say", async () => {
    const silent = transport({ start: () => new Promise(() => undefined) })
    const error = await failure(openSession(await host(() => silent, { connectTimeout: 20 })))

    expect(error).toMatchObject({ code: "TIMEOUT", details: { reason: "connect" } })
    expect(error.message).toMatch(/raise "connectTimeout" of the server \([^)]+\)\.$/)
  })
})

describe("a session", () => {
  test("that was never connected has no peer", async () => {
    const session = new Session(transport(), { mode: "legacy" }, await host(transport))
    expect(() => session.peer).toThrow("never connected")
  })

  test("is broken off once, and not when it is being closed", async () => {
    const parts = await host(transport)
    const session = await openSession(parts)
    const closing = session.close()
    session.breakOff(new Error("late"))
    await closing
    session.breakOff(new Error("later still"))

    expect(session.isLost).toBe(true)
    expect(parts.lost).not.toHaveBeenCalled()
  })

  test("that is broken off tells whoever waits, and its owner, why", async () => {
    const parts = await host(() =>
      transport({ answers: (method) => (method === "ping" ? undefined : {}) }),
    )
    const session = await openSession(parts)
    const waiting = failure(
      session.request({ method: "ping", params: {}, phase: "call", timeout: timeout() }),
    )

    session.breakOff(new Error("no more"))

    expect(await waiting).toBeInstanceOf(Error)
    expect(parts.lost).toHaveBeenCalledOnce()
  })

  test("that is lost sends nothing any more", async () => {
    const own = transport()
    const session = await openSession(await host(() => own))
    await session.close()
    own.sent.length = 0

    const request = { method: "ping", params: {}, phase: "call", timeout: timeout() } as const
    expect(await failure(session.request(request))).toMatchObject({ request: { isSent: false } })
    expect(own.sent).toEqual([])
  })

  test("that is retired is closed when the last request is through", async () => {
    const own = transport()
    const session = await openSession(await host(() => own))
    const request = session.request({
      method: "ping",
      params: {},
      phase: "call",
      timeout: timeout(),
    })

    session.retire()
    expect(own.close).not.toHaveBeenCalled()
    await request
    await waitFor(() => expect(session.isLost).toBe(true))

    expect(own.close).toHaveBeenCalled()
  })

  test("with an id ends also where the transport cannot say that it is over", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const session = await openSession(await host(() => transport({ sessionId: "s1" })))
      const closing = session.close()
      await vi.advanceTimersByTimeAsync(1000)
      await closing
      expect(session.isLost).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  test("logs what came that was no message", async () => {
    const debug = vi.fn()
    const own = transport()
    const parts = await host(() => own, { logger: { ...silentLogger, debug } })
    const session = await openSession(parts)

    own.onmessage?.("text")
    own.onerror?.(new Error("a hiccup"))

    expect(debug.mock.calls.flat()).toEqual([
      'MCP server "srv" sent a message that is not a JSON object',
      'MCP server "srv": a hiccup',
    ])
    await session.close()
  })
})

describe("a supervisor", () => {
  test("opens nothing for those who no longer wait", async () => {
    const make = vi.fn(transport)
    const { supervised } = supervisor(make)

    const error = await failure(supervised.ready(timeout({ signal: AbortSignal.abort() })))

    expect(error.code).toBe("ABORTED")
    expect(make).not.toHaveBeenCalled()
    expect(supervised.status).toMatchObject({ state: "idle", restarts: 0 })
  })

  test("has an error of its own for whatever a transport throws", async () => {
    const { supervised } = supervisor(() => {
      throw new RangeError("no socket")
    })

    const error = await failure(supervised.ready(timeout()))

    expect(error.name).toBe("CallError")
    expect(error.message).toContain("no socket")
    expect(supervised.status).toMatchObject({ state: "failed", lastError: error.message })
  })

  test("hears only of the session that it has", async () => {
    const made: ReturnType<typeof transport>[] = []
    const { supervised, listeners } = supervisor(() => {
      const one = transport()
      made.push(one)
      return one
    })
    const first = await supervised.ready(timeout())
    const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }
    made[0]?.onmessage?.(changed)
    expect(listeners.notified).toHaveBeenCalledExactlyOnceWith(
      "notifications/tools/list_changed",
      undefined,
    )
    // Something still runs on it, so it stays open.
    const request = first.request({
      method: "ping",
      params: {},
      phase: "call",
      timeout: timeout(),
    })
    supervised.expired(first)
    const second = await supervised.ready(timeout())
    supervised.expired(first)

    made[0]?.onmessage?.(changed)
    made[0]?.onclose?.()
    await request.catch(() => undefined)

    expect(second).not.toBe(first)
    expect(await supervised.ready(timeout())).toBe(second)
    expect(listeners.notified).toHaveBeenCalledOnce()
    expect(listeners.lost).not.toHaveBeenCalled()
    expect(listeners.opened.mock.calls.map(([, isAgain]) => isAgain as unknown)).toEqual([
      false,
      true,
    ])
    await supervised.close()
  })

  test("closes what is opened too late", async () => {
    const { supervised } = supervisor(transport)
    const waiting = failure(supervised.ready(timeout()))

    await supervised.close()

    expect(await waiting).toMatchObject({ code: "UNAVAILABLE", retryable: false })
    expect(supervised.status.state).toBe("closed")
    expect(await failure(supervised.ready(timeout()))).toMatchObject({ code: "UNAVAILABLE" })
  })

  test("starts anew when it is told to, and tells of a loss", async () => {
    const made: ReturnType<typeof transport>[] = []
    const { supervised, listeners } = supervisor(() => {
      const one = transport()
      made.push(one)
      return one
    })
    const first = await supervised.ready(timeout())
    await supervised.reset()
    const second = await supervised.ready(timeout())
    expect(second).not.toBe(first)

    made[1]?.onclose?.()

    expect(listeners.lost).toHaveBeenCalledOnce()
    expect(supervised.status).toMatchObject({ state: "lost", restarts: 1 })
    await supervised.close()
  })
})
