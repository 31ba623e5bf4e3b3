import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import {
  CallError,
  createClient,
  fromCall,
  PendingRequestMap,
  serveCalls,
  subscribe,
} from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type { EnvelopeStream, OperationContext } from "../../src/index.ts"
import { createWebSocketTransport, serveWebSocket } from "../../src/websocket.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"

const started = vi.fn<() => void>()

function registryOfNews(): ReturnType<typeof quietRegistry> {
  return quietRegistry([
    operation("news.follow", {
      type: "subscription",
      async *handler() {
        started()
        yield 1
      },
    }),
    operation("news.denied", {
      type: "subscription",
      accessControl: { requiredScopes: ["editor"] },
      async *handler() {
        started()
        yield 1
      },
    }),
  ])
}

/** Held in an object: what a client gives could be awaited as well. */
interface Opened {
  readonly stream: EnvelopeStream
}

interface Way {
  readonly open: () => Opened | Promise<Opened>
  readonly close: () => Promise<void>
}

/** A map whose peer serves the registry. */
function served(): PendingRequestMap {
  const [near, far] = createMemoryTransports()
  serveCalls(registryOfNews(), { transport: far })
  return new PendingRequestMap(near)
}

/** Within a call, which ends when the stream has been opened. */
function inCall(open: (context: OperationContext) => EnvelopeStream): Way {
  const registry = registryOfNews()
  let opened: Opened | undefined
  registry.registerAll([
    operation("outer.call", {
      handler(_input, context) {
        opened = { stream: open(context) }
        return null
      },
    }),
  ])
  return {
    async open() {
      await registry.execute("outer.call", {})
      return opened as Opened
    },
    close: () => registry.close(),
  }
}

type Untyped = Readonly<Record<string, Readonly<Record<string, (input: unknown) => never>>>>

const WAYS: Readonly<Record<string, () => Way | Promise<Way>>> = {
  "registry.subscribe": () => {
    const registry = registryOfNews()
    return {
      open: () => ({ stream: registry.subscribe("news.follow", {}) }),
      close: () => registry.close(),
    }
  },
  "registry.trusted.subscribe": () => {
    const registry = registryOfNews()
    const { trusted } = registry
    return {
      open: () => ({ stream: trusted.subscribe("news.follow", {}) }),
      close: () => registry.close(),
    }
  },
  "subscribe()": () => {
    const registry = registryOfNews()
    return {
      open: () => ({ stream: subscribe(registry, "news.follow", {}) }),
      close: () => registry.close(),
    }
  },
  "context.subscribe": () => inCall((context) => context.subscribe("news.follow", {})),
  "PendingRequestMap.subscribe": () => {
    const map = served()
    return { open: () => ({ stream: map.subscribe("news.follow", {}) }), close: () => map.close() }
  },
  "client.subscribe": () => {
    const client = createClient(served())
    return {
      open: () => ({ stream: client.subscribe("news.follow", {}) }),
      close: () => client.close(),
    }
  },
  "client.news.follow": () => {
    const client = createClient(served())
    const { news } = client as unknown as Untyped
    return { open: () => ({ stream: news!["follow"]!({}) }), close: () => client.close() }
  },
  "client.news.denied": () => {
    const client = createClient(served())
    const { news } = client as unknown as Untyped
    return { open: () => ({ stream: news!["denied"]!({}) }), close: () => client.close() }
  },
  "client.news.follow, once it is known to be a subscription": async () => {
    const client = createClient(served())
    const { news } = client as unknown as Untyped
    const first: EnvelopeStream = news!["follow"]!({})
    await first.next()
    await first.return()
    started.mockClear()
    return { open: () => ({ stream: news!["follow"]!({}) }), close: () => client.close() }
  },
  "client.news.follow over a WebSocket": async () => {
    const server = await serveWebSocket(registryOfNews(), { port: 0 })
    const client = createClient(createWebSocketTransport(server.url as string))
    const { news } = client as unknown as Untyped
    return {
      open: () => ({ stream: news!["follow"]!({}) }),
      async close() {
        await client.close()
        await server.close()
      },
    }
  },
  "client.news.follow over a WebSocket that breaks": async () => {
    const logger = silentLogger
    const server = await serveWebSocket(registryOfNews(), { port: 0, logger })
    const transport = createWebSocketTransport(server.url as string, { logger, reconnect: false })
    const client = createClient(transport)
    const { news } = client as unknown as Untyped
    return {
      open: () => ({ stream: news!["follow"]!({}) }),
      async close() {
        await server.close()
        await client.close()
      },
    }
  },
  fromCall: async () => {
    const map = served()
    const registry = quietRegistry(await fromCall(map))
    return {
      open: () => ({ stream: registry.subscribe("news.follow", {}) }),
      async close() {
        await map.close()
        await registry.close()
      },
    }
  },
}

const unhandled = vi.fn<(reason: unknown) => void>()
beforeEach(() => void process.on("unhandledRejection", unhandled))
afterEach(() => {
  process.off("unhandledRejection", unhandled)
  vi.clearAllMocks()
})

/** Long enough for rejections that nobody handles to be reported. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(Object.entries(WAYS))("an unread stream of %s", (_name, make) => {
  test("starts nothing, and may outlive what it belongs to", async () => {
    const way = await make()
    const { stream } = await way.open()
    await turns()
    await way.close()
    await turns()

    expect(started).not.toHaveBeenCalled()
    expect(unhandled).not.toHaveBeenCalled()
    await stream.return()
  })

  test("may be closed in the same turn", async () => {
    const way = await make()
    await way.open()
    await way.close()
    await turns()

    expect(started).not.toHaveBeenCalled()
    expect(unhandled).not.toHaveBeenCalled()
  })

  test("may be opened when it is closed already", async () => {
    const way = await make()
    await way.close()
    // The call around a stream of a context is refused.
    await Promise.resolve(way.open()).catch(() => undefined)
    await turns()

    expect(started).not.toHaveBeenCalled()
    expect(unhandled).not.toHaveBeenCalled()
  })

  test("is left without having begun", async () => {
    const way = await make()
    const { stream } = await way.open()
    expect(await stream.return()).toEqual({ done: true, value: undefined })
    await way.close()
    await turns()

    expect(started).not.toHaveBeenCalled()
    expect(unhandled).not.toHaveBeenCalled()
  })
})

describe("a call of client.namespace.name", () => {
  test("that is awaited gets the error of a client that closes", async () => {
    const client = createClient(served())
    const { news } = client as unknown as Untyped
    const error = rejection(news!["follow"]!({}))
    await client.close()

    expect(await error).toMatchObject({ code: "ABORTED" })
  })

  test("whose error is not handled is reported, if the peer ran it", async () => {
    const [near, far] = createMemoryTransports()
    const broken = operation("door.open", {
      handler() {
        throw new CallError("JAMMED", "The door is jammed.")
      },
    })
    serveCalls(quietRegistry([broken]), { transport: far })
    await using client = createClient(near)
    void (client as unknown as Untyped)["door"]!["open"]!({})
    await turns()

    expect(unhandled).toHaveBeenCalledOnce()
  })
})
