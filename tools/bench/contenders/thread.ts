/** A stream from another thread, which the calling process starts: by hand, and ours. */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { MessagePort } from "node:worker_threads"
import { loadBuiltThread } from "../library.ts"
import { served } from "../protocol.ts"
import { call, serve } from "./bus-hand.ts"
import type { Exchange } from "./bus-hand.ts"
import type { BusContender } from "./bus.ts"

/** Messages of one turn in one array, as structured clones. */
export const threadByHand: BusContender = {
  serve: () => Promise.resolve(""),
  connect: async () => call(exchangeOver(await startThread("thread-batched"))),
}

/** A registry in the other thread. */
export const oursOverThread: BusContender = {
  serve: () => Promise.resolve(""),
  async connect() {
    const { createClient, createRegistry, createWorkerTransport, defineOperation } =
      await loadBuiltThread()
    const registry = createRegistry(served({ defineOperation }))
    const port = await startThread("thread")
    const client = createClient<typeof registry>(createWorkerTransport(port))
    return {
      call: (input) => client.shop.quote(input),
      async items(count) {
        let seen = 0
        for await (const item of client.shop.quotes({ count })) if (item !== undefined) seen++
        return seen
      },
      data: (result) => (result as { readonly data: unknown }).data,
    }
  },
}

/** Serves in a thread. */
export async function serveThread(name: string, port: MessagePort): Promise<void> {
  if (name === "thread") {
    const library = await loadBuiltThread()
    const registry = library.createRegistry(served(library))
    library.serveCalls(registry, { transport: library.createWorkerTransport(port) })
  } else serve(exchangeOver(port))
  port.postMessage("ready")
}

async function startThread(name: string): Promise<Worker> {
  const worker = new Worker(new URL("thread-start.mjs", import.meta.url), {
    argv: [name],
    execArgv: [],
  })
  await once(worker, "message")
  worker.unref()
  return worker
}

function exchangeOver(port: MessagePort | Worker): Exchange {
  type Message = Parameters<Exchange["send"]>[0]
  let waiting: Message[] = []
  const flush = (): void => {
    const messages = waiting
    waiting = []
    port.postMessage(messages)
  }
  const exchange: Exchange = {
    send: (message) => void (waiting.push(message) === 1 && setImmediate(flush)),
    receive: () => undefined,
  }
  port.on("message", (messages: Message[]) => {
    for (const message of messages) exchange.receive(message)
  })
  return exchange
}
