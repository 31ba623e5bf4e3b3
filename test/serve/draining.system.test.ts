// What a deploy does to running calls and streams: the same on every way in.
import { describe, expect, onTestFinished, test } from "vitest"
import type { AnyOperation, OperationContext } from "../../src/index.ts"
import { deferred } from "../../src/internal/wait.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
// A registry has no server, and no time for what runs.
const BUSES: readonly string[] = ["NATS", "Redis"]
const WAYS = Object.keys(WAYS_IN).filter(
  (name) => name !== "registry" && (!BUSES.includes(name) || name in BROKERS),
)

/** A server whose operations say when they run, and end when they are told. */
class Deploy {
  readonly started = deferred()
  readonly gate = deferred()
  isAborted = false
  readonly operations: AnyOperation[] = [
    operation("work.slow", {
      type: "mutation",
      outputSchema: { type: "object" },
      handler: async (_input: unknown, { signal }: OperationContext) => {
        signal.addEventListener("abort", () => (this.isAborted = true))
        this.started.resolve()
        await this.gate.promise
        return { done: true }
      },
    }),
    operation("work.other", { type: "mutation", handler: () => "other" }),
    operation("work.ticks", {
      type: "subscription",
      handler: (_input: unknown, { signal }: OperationContext) => this.#ticks(signal),
    }),
  ]

  async *#ticks(signal: AbortSignal): AsyncGenerator<number> {
    yield 1
    this.started.resolve()
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    this.isAborted = true
  }

  async open(way: string, drainMs: number): Promise<Required<Surface>> {
    const broker = await BROKERS[way]?.()
    onTestFinished(() => broker?.[Symbol.asyncDispose]())
    const surface = await openSurface(way, {
      upstream: "http://127.0.0.1:9",
      errors: undefined,
      broker: broker?.url,
      operations: this.operations,
      drainMs,
    })
    onTestFinished(() => surface[Symbol.asyncDispose]())
    return surface as Required<Surface>
  }
}

describe.each(WAYS)("a server that is closed, called over %s,", (way) => {
  test("answers the calls that run, and refuses new ones", async () => {
    const deploy = new Deploy()
    const surface = await deploy.open(way, 30_000)
    const running = surface.call("work.slow")
    await deploy.started.promise
    const drained = surface.drain()
    // A broker passes new calls on to other workers, and these wait for one.
    const refused = BUSES.includes(way)
      ? {}
      : await surface.call("work.other").catch((error: unknown) => error)
    expect(refused).not.toMatchObject({ data: "other" })
    expect(refused).not.toMatchObject({ mayHaveExecuted: true })
    deploy.gate.resolve()
    await drained
    expect(await running).toMatchObject({ code: undefined, data: { done: true } })
    expect(deploy.isAborted).toBe(false)
  })

  test("ends calls that take longer than drainMs with an error that says so", async () => {
    const deploy = new Deploy()
    const surface = await deploy.open(way, 20)
    const running = surface.call("work.slow")
    await deploy.started.promise
    await surface.drain()
    expect(await running).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/"work[._]slow" has no answer: the server was closed\.$/),
      retryable: false,
      mayHaveExecuted: true,
    })
    await expect.poll(() => deploy.isAborted).toBe(true)
  })

  // A batch has no streams, a stream over MCP is a call, and the HTTP client opens a stream again.
  if (/batch|MCP|HTTP client/.test(way)) return
  test("ends streams with an error that says so", async () => {
    const deploy = new Deploy()
    const surface = await deploy.open(way, 20)
    const running = surface.stream("work.ticks")
    await deploy.started.promise
    await surface.drain()
    const seen = await running
    expect(seen).toMatchObject({ code: "UNAVAILABLE", retryable: false, mayHaveExecuted: true })
    expect(seen.message).toMatch(/the server was closed|The server is closing/)
    await expect.poll(() => deploy.isAborted).toBe(true)
  })
})
