import { once } from "node:events"
import { connect, createServer } from "node:net"
import type { AddressInfo, Server, Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { connectWorker, openEnd } from "./ends.ts"

const isThere = await provideRedis()

/** A way to a server on which what comes back can be changed. */
class Way implements AsyncDisposable {
  /** Changes something once, and gives `undefined` where there was nothing to change. */
  change: ((text: string) => string | undefined) | undefined
  /** The same for what goes to the server. */
  changeSent: ((text: string) => string | undefined) | undefined
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async to(port: number): Promise<Way> {
    const server = createServer()
    const way = new Way(server)
    server.on("connection", (client) => way.#accept(client, connect(port, "127.0.0.1")))
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return way
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, "close")
  }

  #accept(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        client.destroy()
        server.destroy()
      })
    }
    client.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1")
      const changed = this.changeSent?.(text)
      if (changed !== undefined) this.changeSent = undefined
      server.write(changed ?? text, "latin1")
    })
    server.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1")
      const changed = this.change?.(text)
      if (changed !== undefined) this.change = undefined
      client.write(changed ?? text, "latin1")
    })
  }
}

/** How a message begins, in both forms that servers have for it. */
const PUSH = /([*>])4\r\n\$8\r\npmessage/

/** Replaces something, where it is. */
function swap(what: RegExp, by: string): (text: string) => string | undefined {
  return (text) => (what.test(text) ? text.replace(what, by) : undefined)
}

describe.skipIf(!isThere)("bytes that were damaged on their way from Redis", () => {
  let broker: Broker
  const uncaught: unknown[] = []
  const note = (error: unknown): void => void uncaught.push(error)

  beforeAll(async () => {
    broker = await startRedis()
    process.on("uncaughtException", note)
  })

  afterAll(async () => {
    process.off("uncaughtException", note)
    await broker?.[Symbol.asyncDispose]()
  })

  test.each<[string, RegExp, string]>([
    ["a count that is lost", /:\d+\r\n/, ""],
    ["a count that swallows the next", /:(\d)\r\n/, "+$1\n\n"],
    ["a count that is none", /:(\d)\r\n/, "#t\r\n"],
    ["a list of nothing", PUSH, "$14\r\n$-1\r\n$8\r\npmessage"],
    ["a list that ends early", PUSH, "$11\r\n$8\r\npmessage"],
    ["an empty list", PUSH, "$10\r\n$8\r\npmessage"],
    ["a list in a list", PUSH, "$14\r\n*2\r\n$8\r\npmessage"],
    ["a text that is longer than what comes", PUSH, "$14\r\n$99999\r\npmessage"],
    ["a text of a negative length", PUSH, "$14\r\n$-8\r\npmessage"],
    ["what is no type", PUSH, "?4\r\n$8\r\npmessage"],
    ["an empty channel", /(\r\npmessage\r\n)\$(\d+)\r\n/, "$1$-1\r\n+"],
    ["a pattern that is a number", /(\r\npmessage\r\n)\$/, "$1:"],
    ["a push that is nothing", /[*>]4\r\n\$8\r\npmessage/, "_\r\n>4\r\n$8\r\npmessage"],
  ])("leave nobody deaf or mute: %s", async (_what, from, by) => {
    await using way = await Way.to(broker.port)
    await using worker = await connectWorker(way.url)
    await using caller = openEnd(way.url)
    await expect.poll(() => caller.bus.isConnected).toBe(true)
    way.change = swap(from, by)
    const ask = (text: string): void => {
      caller.bus.control(worker.bus.address, caller.frame(text), "m")
    }
    await expect
      .poll(() => {
        ask("before")
        return way.change
      })
      .toBeUndefined()
    worker.recorder.calls.length = 0
    // Whoever was hit is back by itself, and hears and is heard.
    await expect
      .poll(() => {
        ask("after")
        return worker.recorder.calls.some(({ text }) => text.includes("after"))
      })
      .toBe(true)
    await expect.poll(() => worker.bus.isConnected && caller.bus.isConnected).toBe(true)
    expect(uncaught.splice(0)).toEqual([])
  })

  test("leave no worker deaf whose subscription arrived as another", async () => {
    await using way = await Way.to(broker.port)
    way.changeSent = swap(/:ctl:\*/, ":cul:*")
    await using worker = await connectWorker(way.url)
    await using caller = openEnd(broker.url)
    expect(way.changeSent).toBeUndefined()
    await expect
      .poll(() => {
        caller.bus.control(worker.bus.address, caller.frame("hello"), "m")
        return worker.recorder.calls.some(({ text }) => text.includes("hello"))
      })
      .toBe(true)
    expect(uncaught.splice(0)).toEqual([])
  })
})
