// Uses both transports, closes everything, and ends by itself: exit.test.ts waits for that. Takes the worker's script.
import { Worker } from "node:worker_threads"
import { PendingRequestMap } from "../../src/protocol/pending/request-map.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { createWebSocketTransport, serveWebSocket } from "../../src/websocket.ts"
import { count, greet, quietRegistry } from "../support/operations.ts"

async function use(map: PendingRequestMap): Promise<string> {
  const { data } = await map.call("demo.greet", { name: "Ada" })
  const items: unknown[] = []
  for await (const item of map.subscribe("demo.count", { to: 1000 })) items.push(item.data)
  for await (const _ of map.subscribe("demo.count", { to: 1000 })) break
  await map.close()
  return `${(data as { text: string }).text}, ${items.length} items`
}

const worker = new Worker(process.argv[2] as string)
const threads = await use(new PendingRequestMap(createWorkerTransport(worker)))

const served = await serveWebSocket(quietRegistry([greet, count]), { port: 0 })
const sockets = await use(new PendingRequestMap(createWebSocketTransport(served.url as string)))
await served.close()

process.stdout.write(JSON.stringify({ threads, sockets }))
