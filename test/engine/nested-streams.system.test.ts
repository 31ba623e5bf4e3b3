// Streams that a handler opens end with its call, over every link.
import { describe, expect, onTestFinished, test } from "vitest"
import { fromCall, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type { AnyOperation, EnvelopeStream, OperationContext } from "../../src/index.ts"
import { FileStream, toFile } from "../../src/type.ts"
import type { FileLike } from "../../src/type.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])

/** Streams that run, and that were left open by their handlers. */
let running = 0
let left: EnvelopeStream[] = []

const ticks = operation("s.ticks", {
  type: "subscription",
  async *handler() {
    running++
    try {
      for (let at = 1; ; at++) {
        yield at
        await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      running--
    }
  },
})

/** Operations that open a stream, and leave it open. */
function leaving(stream = "s.ticks"): AnyOperation[] {
  const open = async ({ subscribe }: OperationContext): Promise<EnvelopeStream> => {
    const opened = subscribe(stream, {})
    left.push(opened)
    await opened.next()
    return opened
  }
  const resilience = { retry: { attempts: 2 }, timeout: { attempt: 20_000 } }
  const define = (name: string, parts: Parameters<typeof operation>[1]): AnyOperation =>
    operation(`s.${name}`, { inputSchema: { type: "object" }, ...parts })
  const returns = async (_input: never, context: OperationContext): Promise<number> => {
    await open(context)
    return 1
  }
  const throws = async (_input: never, context: OperationContext): Promise<number> => {
    await open(context)
    throw new TypeError("after the stream")
  }
  return [
    ticks,
    define("returns", { handler: returns }),
    define("throws", { handler: throws }),
    define("repeats", { handler: returns, resilience }),
    define("at-once", {
      handler: (_input: never, context: OperationContext) => {
        void open(context)
        return 1
      },
    }),
    define("nested", {
      handler: async (_input: never, { call }: OperationContext) =>
        (await call("s.returns", {})).data,
    }),
    define("ends", {
      type: "subscription",
      async *handler(_input: never, context: OperationContext) {
        await open(context)
        yield 1
      },
    }),
    define("breaks", {
      type: "subscription",
      async *handler(_input: never, context: OperationContext) {
        await open(context)
        yield 1
        throw new TypeError("after the stream")
      },
    }),
  ]
}

const CALLS = ["s.returns", "s.throws", "s.repeats", "s.at-once", "s.nested"]
const STREAMS = ["s.ends", "s.breaks"]

describe("a stream that a handler left open ends with its call", () => {
  const ways = Object.keys(WAYS_IN).filter((name) => !NEED_BROKERS.has(name) || name in BROKERS)
  test.each(ways)("however it was called: %s", async (name) => {
    await using broker = await BROKERS[name]?.()
    const terms = { upstream: "", errors: undefined, operations: leaving(), broker: broker?.url }
    await using surface = await openSurface(name, terms)
    for (const id of CALLS) {
      await surface.call(id)
      await waitFor(() => expect({ id, running }).toEqual({ id, running: 0 }))
    }
    for (const id of STREAMS) {
      await surface.stream?.(id)
      await waitFor(() => expect({ id, running }).toEqual({ id, running: 0 }))
    }
  })

  test("over a link, so that any number of such calls can follow", async () => {
    const [here, there] = createMemoryTransports()
    const far = quietRegistry([ticks])
    const server = serveCalls(far, { transport: there, maxStreams: 3 })
    const registry = quietRegistry(leaving("far.s.ticks").slice(1))
    onTestFinished(async () => {
      await registry.close()
      await server.close()
    })
    await fromCall(here, { registry, namespace: "far", logger: silentLogger })
    for (let at = 0; at < 20; at++) expect((await registry.execute("s.returns", {})).data).toBe(1)
    await waitFor(() =>
      expect({ running, inFlight: server.inFlight }).toEqual({ running: 0, inFlight: 1 }),
    )
  })

  test("and what still reads it sees its end", async () => {
    left = []
    const registry = quietRegistry(leaving())
    onTestFinished(() => registry.close())
    await registry.execute("s.returns", {})
    const [stream] = left as [EnvelopeStream]
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })
})

describe("a stream that a handler passes on", () => {
  const items = async (id: string, more: AnyOperation): Promise<unknown[]> => {
    const registry = quietRegistry([...leaving(), more])
    onTestFinished(() => registry.close())
    const found: unknown[] = []
    for await (const { data } of registry.subscribe(id, {})) {
      found.push(data)
      if (found.length === 3) break
    }
    await waitFor(() => expect(running).toBe(0))
    return found
  }

  test("is read to where its reader leaves: returned", async () => {
    const handler = (_input: never, { subscribe }: OperationContext): unknown =>
      subscribe("s.ticks", {})
    const found = await items("s.same", operation("s.same", { type: "subscription", handler }))
    expect(found).toEqual([1, 2, 3])
  })

  test("is read to where its reader leaves: with yield*", async () => {
    const more = operation("s.same", {
      type: "subscription",
      async *handler(_input: never, { subscribe }: OperationContext) {
        yield* subscribe("s.ticks", {})
      },
    })
    expect(await items("s.same", more)).toEqual([1, 2, 3])
  })

  test.each(["before", "after"])(
    "is read as a file that the call returned: begun %s its end",
    async (when) => {
      const registry = quietRegistry([
        ticks,
        operation("s.file", {
          outputSchema: FileStream(),
          handler: async (_input: never, { subscribe }: OperationContext) => {
            const stream = subscribe("s.ticks", {})
            if (when === "before") await stream.next()
            return toFile(
              (async function* () {
                for await (const { data } of stream) {
                  yield new TextEncoder().encode(String(data))
                  if (Number(data) >= 5) return
                }
              })(),
            )
          },
        }),
      ])
      onTestFinished(() => registry.close())
      const { data } = await registry.execute("s.file", {})
      let text = ""
      const decoder = new TextDecoder()
      for await (const chunk of (
        data as FileLike
      ).stream() as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk)
      }
      expect(text).toBe(when === "before" ? "2345" : "12345")
      await waitFor(() => expect(running).toBe(0))
    },
  )
})
