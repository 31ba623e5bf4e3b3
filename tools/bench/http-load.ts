/**
 * The client, in a separate process: requests over persistent connections, or one stream to its end.
 *
 * It writes prepared requests and looks only for the end of a response, because an expensive client would
 * measure itself.
 */
import { connect } from "node:net"
import type { Socket } from "node:net"

/** A request; the response is the number of responses or events, or the reason for a failure. */
export type Load =
  | {
      readonly kind: "requests"
      readonly port: number
      readonly path: string
      /** In place of `accept`, which by default takes everything. */
      readonly headers?: Readonly<Record<string, string>> | undefined
      /** Sent in turn. */
      readonly bodies: readonly string[]
      readonly count: number
      readonly connections: number
    }
  | { readonly kind: "stream"; readonly port: number; readonly path: string }

const kept = new Map<number, Connection[]>()

// The parent process is gone.
process.on("disconnect", () => process.exit())
process.on("message", (load: Load) => {
  const running = load.kind === "requests" ? request(load) : read(load.port, load.path)
  running.then(
    (count) => process.send?.(count),
    (error: unknown) => process.send?.(String(error)),
  )
})

async function request(load: Extract<Load, { readonly kind: "requests" }>): Promise<number> {
  const { port, path, bodies, count, connections, headers = { accept: "*/*" } } = load
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const requests = bodies.map((body) =>
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join("")}` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  )
  let pool = kept.get(port)
  // A new server may listen on the port of one that has ended.
  if (pool === undefined || pool.some(({ isClosed }) => isClosed)) {
    pool = Array.from({ length: connections }, () => new Connection(connect(port, "127.0.0.1")))
    kept.set(port, pool)
  }
  let sent = 0
  const next = (): Buffer | undefined =>
    sent < count ? requests[sent++ % requests.length] : undefined
  await Promise.all(pool.map((connection) => connection.run(next)))
  return sent
}

/** One request at a time. */
class Connection {
  readonly #socket: Socket
  #text = ""
  #next: () => Buffer | undefined = () => undefined
  #done: () => void = () => undefined
  #fail: (error: Error) => void = () => undefined
  isClosed = false

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on("data", (chunk: Buffer) => this.#receive(chunk.toString("latin1")))
    socket.on("error", (error) => this.#fail(error))
    socket.on("close", () => {
      this.isClosed = true
      this.#fail(new Error("The server closed a connection."))
    })
  }

  run(next: () => Buffer | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#next = next
      this.#done = resolve
      this.#fail = reject
      this.#send()
    })
  }

  #send(): void {
    const bytes = this.#next()
    if (bytes === undefined) this.#done()
    else this.#socket.write(bytes)
  }

  #receive(text: string): void {
    this.#text = this.#text === "" ? text : this.#text + text
    if (!isWhole(this.#text)) return
    const isRight = this.#text.startsWith("HTTP/1.1 200")
    const wrong = isRight ? "" : this.#text
    this.#text = ""
    if (isRight) this.#send()
    else this.#fail(new Error(wrong))
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n")
  if (end === -1) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  return length === undefined
    ? text.endsWith("\r\n0\r\n\r\n")
    : text.length >= end + 4 + Number(length)
}

const LINE_FEED = 10

/** Counts the events of a stream: their ends, and those are two line feeds. */
function read(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    let events = 0
    let isLineEnd = false
    socket.on("data", (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at++) {
        if (chunk[at] !== LINE_FEED) isLineEnd = false
        else if (isLineEnd) {
          events++
          isLineEnd = false
        } else isLineEnd = true
      }
    })
    socket.on("error", reject)
    socket.on("close", () => resolve(events))
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n` +
        "connection: close\r\n\r\n",
    )
  })
}
