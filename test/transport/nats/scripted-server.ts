import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"

/** Speaks as much NATS as it takes to connect, and says what a test wants. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  /** How often somebody connected and said who they are. */
  readonly attempts: number
  /** Says something to everybody who is connected. */
  say(line: string): void
}

export interface Script {
  readonly info?: Readonly<Record<string, unknown>>
  /** What to say to the nth that connects, instead of taking it; it is then hung up on. */
  readonly refuse?: (attempt: number) => string | undefined
}

/** Starts such a server on loopback. */
export async function startScripted({ info = {}, refuse }: Script): Promise<ScriptedServer> {
  const sockets = new Set<Socket>()
  let attempts = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => {})
    const defaults = {
      server_id: "x",
      version: "2.14.0",
      proto: 1,
      max_payload: 1048576,
      headers: true,
    }
    socket.write(`INFO ${JSON.stringify({ ...defaults, ...info })}\r\n`)
    socket.on("data", (data) => {
      for (const line of String(data).split("\r\n")) {
        if (line.startsWith("CONNECT")) {
          const refusal = refuse?.(++attempts)
          if (refusal === undefined) continue
          socket.end(`-ERR '${refusal}'\r\n`)
          return
        }
        if (line === "PING") socket.write("PONG\r\n")
      }
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `nats://127.0.0.1:${port}`,
    get attempts() {
      return attempts
    },
    say: (line) => {
      for (const socket of sockets) socket.write(`${line}\r\n`)
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}
