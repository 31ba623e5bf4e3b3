import { once } from "node:events"
import { connect, createServer } from "node:net"
import type { AddressInfo, Server, Socket } from "node:net"
import { DelayedPipe } from "./delayed-pipe.ts"

/** The faults of a connection to a broker; none by default. */
export interface ProxyFaults {
  /** The delay in each direction, and its variation, in milliseconds. */
  readonly delay?: number | undefined
  readonly jitter?: number | undefined
  /** Nothing gets through: to the broker ("up"), from it ("down"), or either way. */
  readonly stall?: "up" | "down" | "both" | undefined
  /** A connection breaks after this many bytes, even within a message. */
  readonly cutAfter?: number | undefined
  /** Bytes that get through per second in each direction. */
  readonly bytesPerSecond?: number | undefined
  /** The share of chunks with a flipped bit, from 0 to 1. */
  readonly flip?: number | undefined
  /** New connections are closed at once. */
  readonly refuse?: boolean | undefined
}

/** A proxy to a broker that injects faults on command. */
export class FaultProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #target: number
  readonly #random: () => number
  readonly #links = new Set<Link>()
  readonly #abandoned = new WeakSet<Link>()
  #faults: ProxyFaults = {}
  #damaged = 0
  /** The number of accepted connections, and of those that were cut. */
  accepted = 0
  cuts = 0

  private constructor(server: Server, target: number, random: () => number) {
    this.#server = server
    this.#target = target
    this.#random = random
    server.on("connection", (socket) => this.#accept(socket))
  }

  /** Starts a proxy for a port on loopback. Close it when you are done. */
  static async start(target: number, random: () => number = Math.random): Promise<FaultProxy> {
    const server = createServer({ allowHalfOpen: true })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return new FaultProxy(server, target, random)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get connections(): number {
    return this.#links.size
  }

  /** The number of chunks with a flipped bit. */
  get damaged(): number {
    return [...this.#links].reduce((sum, link) => sum + link.damaged, this.#damaged)
  }

  /** Sets the faults, also for open connections. */
  set(faults: ProxyFaults): void {
    this.#faults = faults
    for (const link of this.#links) if (!this.#abandoned.has(link)) link.apply(faults)
  }

  /** Stalls the connections that are open now, unnoticed by either end; new ones work. */
  abandon(): void {
    for (const link of this.#links) {
      link.apply({ stall: "both" })
      this.#abandoned.add(link)
    }
  }

  /** Breaks all connections at once, as a machine that restarts does. */
  reset(): void {
    for (const link of this.#links) link.cut(true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.cut(true)
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, "close")
  }

  #accept(client: Socket): void {
    this.accepted++
    client.on("error", () => undefined)
    if (this.#faults.refuse === true) {
      client.resetAndDestroy()
      return
    }
    const broker = connect({ port: this.#target, host: "127.0.0.1", allowHalfOpen: true })
    const link = new Link(client, broker, this.#random, (wasCut) => {
      this.#links.delete(link)
      this.#damaged += link.damaged
      if (wasCut) this.cuts++
    })
    this.#links.add(link)
    link.apply(this.#faults)
  }
}

/** One connection through the proxy: two pipes with shared counters. */
class Link {
  readonly #sockets: readonly [Socket, Socket]
  readonly #up: DelayedPipe
  readonly #down: DelayedPipe
  readonly #random: () => number
  readonly #gone: (wasCut: boolean) => void
  #left = Number.POSITIVE_INFINITY
  #cutAfter: number | undefined
  #isOver = false

  constructor(
    client: Socket,
    server: Socket,
    random: () => number,
    gone: (wasCut: boolean) => void,
  ) {
    this.#sockets = [client, server]
    this.#random = random
    this.#gone = gone
    const allow = (bytes: number): number => this.#allow(bytes)
    this.#up = new DelayedPipe(client, server, random, allow)
    this.#down = new DelayedPipe(server, client, random, allow)
    for (const socket of this.#sockets) {
      socket.setNoDelay(true)
      socket.on("error", () => this.#end(false))
      socket.on("close", () => this.#closed(socket))
    }
  }

  apply(faults: ProxyFaults): void {
    if (faults.cutAfter !== this.#cutAfter) {
      this.#cutAfter = faults.cutAfter
      this.#left = faults.cutAfter ?? Number.POSITIVE_INFINITY
    }
    this.#up.apply({ ...faults, isStalled: faults.stall === "up" || faults.stall === "both" })
    this.#down.apply({ ...faults, isStalled: faults.stall === "down" || faults.stall === "both" })
  }

  /** Breaks it: with a reset, or like a regular end. */
  cut(isReset: boolean): void {
    if (this.#isOver) return
    if (isReset) for (const socket of this.#sockets) socket.resetAndDestroy()
    else for (const socket of this.#sockets) socket.end(() => socket.destroy())
    this.#end(true)
  }

  /** The number of chunks with a flipped bit. */
  get damaged(): number {
    return this.#up.damaged + this.#down.damaged
  }

  /** How many of these bytes still get through; the connection breaks after the last one. */
  #allow(bytes: number): number {
    if (bytes < this.#left) {
      this.#left -= bytes
      return bytes
    }
    const allowed = this.#left
    this.#left = 0
    // After they were written. Half of the breaks look like a regular end.
    const isReset = this.#random() < 0.5
    setImmediate(() => this.cut(isReset))
    return allowed
  }

  /** Handles the end of one side, after its remaining bytes were delivered. */
  #closed(socket: Socket): void {
    const pipe = socket === this.#sockets[0] ? this.#up : this.#down
    if (pipe.isEmpty || this.#sockets.every(({ destroyed }) => destroyed)) this.#end(false)
  }

  #end(wasCut: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#up.stop()
    this.#down.stop()
    if (!wasCut) for (const socket of this.#sockets) socket.destroy()
    this.#gone(wasCut)
  }
}
