import { once } from "node:events"
import { createServer } from "node:net"
import type { Server } from "node:net"

const FIRST = 12_000
const COUNT = 5000

/**
 * A port of the loopback interface where nobody listens, reserved for as long as this process runs.
 *
 * Tests in other processes get other ports, even while nobody listens at this one: a broker that is being restarted finds
 * its port free. No outgoing connection is given such a port either: one could connect to itself there, and then keep a
 * server from starting. Nor is one the second port of a Redis cluster node, 10,000 further on.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    // Whoever listens at the second port has reserved the first one.
    const reservation = await listen(port + COUNT)
    if (reservation === undefined) continue
    const server = await listen(port)
    if (server === undefined) {
      reservation.close()
      continue
    }
    reservation.unref()
    server.close()
    await once(server, "close")
    return port
  }
}

/** A server at a port, unless it is taken. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy())
  return await new Promise((resolve) => {
    server.once("error", () => resolve(undefined))
    server.listen(port, "127.0.0.1", () => resolve(server))
  })
}
