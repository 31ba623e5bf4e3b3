/** Minimal connections that carry texts from one process to another. */
import { once } from "node:events"
import { createRequire } from "node:module"
import { connect as connectSocket, createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"
import { connect as connectNats } from "@nats-io/transport-node"
import type { Redis } from "ioredis"
import { WebSocket, WebSocketServer } from "ws"
import { listen } from "./socket.ts"

/** One end of a connection: it sends texts, and calls `receive` with those of the other end. */
export interface Line {
  send(text: string): void
  receive: (text: string) => void
}

/** A kind of connection between two processes. */
export interface LineKind {
  /** Calls back with an end for each peer; returns the address for the other end. */
  serve(url: string, accept: (line: Line) => void): Promise<string>
  connect(address: string): Promise<Line>
}

export type LineName = "tcp" | "ws" | "nats" | "redis"

/** All of them, by name. */
export const LINES: Readonly<Record<LineName, LineKind>> = {
  tcp: {
    async serve(_url, accept) {
      const server = createServer((socket) => accept(overTCP(socket)))
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return String((server.address() as AddressInfo).port)
    },
    async connect(address) {
      const socket = connectSocket(Number(address), "127.0.0.1")
      await once(socket, "connect")
      return overTCP(socket)
    },
  },
  ws: {
    async serve(_url, accept) {
      const { server, url } = await listen()
      const wss = new WebSocketServer({ server, perMessageDeflate: false })
      wss.on("connection", (socket) => accept(overSocket(socket)))
      return url
    },
    async connect(address) {
      const socket = new WebSocket(address, { perMessageDeflate: false })
      await once(socket, "open")
      return overSocket(socket)
    },
  },
  nats: {
    async serve(url, accept) {
      accept(await overNats(url, "answers", "calls"))
      return url
    },
    connect: (url) => overNats(url, "calls", "answers"),
  },
  redis: {
    async serve(url, accept) {
      accept(await overRedis(url, "answers", "calls"))
      return url
    },
    connect: (url) => overRedis(url, "calls", "answers"),
  },
}

/** The prefix of channel names, different for each contender. */
const prefix = process.argv[3] ?? ""

function overTCP(socket: Socket): Line {
  const line: Line = {
    send: (text) => void socket.write(`${text}\n`),
    receive: () => undefined,
  }
  let rest = ""
  socket.setNoDelay(true)
  socket.setEncoding("utf8")
  socket.on("data", (chunk: string) => {
    const texts = (rest + chunk).split("\n")
    rest = texts.pop() ?? ""
    for (const text of texts) line.receive(text)
  })
  return line
}

function overSocket(socket: WebSocket): Line {
  const line: Line = { send: (text) => socket.send(text), receive: () => undefined }
  socket.on("message", (data) => line.receive((data as Buffer).toString()))
  return line
}

async function overNats(url: string, to: string, from: string): Promise<Line> {
  const connection = await connectNats({ servers: url })
  const line: Line = {
    send: (text) => connection.publish(`${prefix}.${to}`, text),
    receive: () => undefined,
  }
  connection.subscribe(`${prefix}.${from}`, {
    callback: (_error, message) => line.receive(message.string()),
  })
  await connection.flush()
  return line
}

async function overRedis(url: string, to: string, from: string): Promise<Line> {
  const publisher = createRedis(url)
  const subscriber = createRedis(url)
  const line: Line = {
    send: (text) => void publisher.publish(`${prefix}.${to}`, text),
    receive: () => undefined,
  }
  subscriber.on("message", (_channel: string, text: string) => line.receive(text))
  await subscriber.subscribe(`${prefix}.${from}`)
  return line
}

/** A client of the version that the library is tested with: this folder has an older one, for Moleculer. */
export function createRedis(url: string): Redis {
  const root = createRequire(new URL("../../../package.json", import.meta.url))
  const { Redis: Client } = root("ioredis") as { readonly Redis: new (url: string) => Redis }
  return new Client(url)
}
