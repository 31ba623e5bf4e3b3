/** The cost of an idle stream: the memory of a server with a few hundred of them. */
import { once } from "node:events"
import { connect } from "node:net"
import type { Socket } from "node:net"
import { startServer } from "./http.ts"
import type { ServerName } from "./http-targets.ts"
import type { Library } from "./library.ts"

/** The memory that one of many streams adds. */
export interface Idle {
  readonly name: string
  readonly count: number
  /** Used heap and external memory. */
  readonly heapBytes: number
  /** Resident memory of the process. */
  readonly residentBytes: number
}

export const SSE_IDLE = "operations, an SSE stream"
export const SOCKET_IDLE = "operations, a subscription over WebSocket"

const COUNT = 2000
// The first ones include shared data and compiled code.
const FIRST = 500

/** Measures the memory of server-sent event streams, and of subscriptions that share one WebSocket. */
export async function weighIdle(library: Library): Promise<Idle[]> {
  return [
    await weigh("node:http, an answer held open", "floor", sse("/idle")),
    await weigh(SSE_IDLE, "ours", sse("/api/shop/idle")),
    await weigh(SOCKET_IDLE, "ours", subscriptions(library)),
  ]
}

/** Opens one more, and is done when its first item is there. */
type Open = (port: number) => { one(): Promise<void>; close(): void }

async function weigh(name: string, serverName: ServerName, open: Open): Promise<Idle> {
  interface Weight {
    readonly heap: number
    readonly resident: number
  }
  const server = await startServer(serverName)
  const opened = open(server.port)
  try {
    for (let index = 0; index < FIRST; index++) await opened.one()
    const before = await settled(() => server.ask<Weight>("weigh"))
    for (let index = 0; index < COUNT; index++) await opened.one()
    const after = await settled(() => server.ask<Weight>("weigh"))
    return {
      name,
      count: COUNT,
      heapBytes: (after.heap - before.heap) / COUNT,
      residentBytes: (after.resident - before.resident) / COUNT,
    }
  } finally {
    opened.close()
    server.end()
  }
}

/** Measured several times, because finalizers free more memory in later collections. */
async function settled<TWeight>(ask: () => Promise<TWeight>): Promise<TWeight> {
  await ask()
  await ask()
  return await ask()
}

function sse(path: string): Open {
  return (port) => {
    const sockets: Socket[] = []
    return {
      async one() {
        const socket = connect(port, "127.0.0.1")
        sockets.push(socket)
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n\r\n`,
        )
        let text = ""
        while (!text.includes("\n\n")) {
          const [chunk] = (await once(socket, "data")) as [Buffer]
          text += chunk.toString()
        }
        if (!text.includes("HTTP/1.1 200")) throw new Error(text)
      },
      close() {
        for (const socket of sockets) socket.on("error", () => undefined).destroy()
      },
    }
  }
}

function subscriptions({ createClient, createWebSocketTransport }: Library): Open {
  return (port) => {
    const client = createClient(createWebSocketTransport(`ws://127.0.0.1:${port}/ws`))
    const open: AsyncIterator<unknown>[] = []
    return {
      async one() {
        const items = client.subscribe("shop.idle", {})[Symbol.asyncIterator]()
        open.push(items)
        await items.next()
        // A client always waits for the next item.
        items.next().catch(() => undefined)
      },
      close() {
        void client.close()
      },
    }
  }
}
