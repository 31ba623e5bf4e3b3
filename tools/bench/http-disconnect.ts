/** How soon a handler is notified that its client is gone: from the end of the client's socket to the signal. */
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { WebSocket } from "ws"
import type { Message } from "./http-disconnect-server.ts"

/** The results of many clients that left. */
export interface Disconnects {
  readonly name: string
  readonly count: number
  /** Milliseconds. */
  readonly median: number
  readonly p99: number
}

export const OURS_LEFT: readonly string[] = [
  "operations, a call by POST",
  "operations, an SSE stream",
  "operations, a call over WebSocket",
  "operations, an upload",
  "operations, a download",
]

const COUNT = 100
const WARM_UP = 20
const SERVER = fileURLToPath(import.meta.resolve("./http-disconnect-server.ts"))

/** Requests work; returns a function that ends the connection. */
type Ask = (port: number) => Promise<() => void>

interface Row {
  readonly name: string
  readonly server: "bare" | "ours"
  readonly ask: Ask
}

const REQUEST = '{"type":"call.requested","requestId":"1","operationId":"work.call"}'

const ROWS: readonly Row[] = [
  { name: "node:http, close of a POST", server: "bare", ask: http("POST", "/") },
  { name: OURS_LEFT[0] as string, server: "ours", ask: http("POST", "/api/work/call") },
  { name: "node:http, close of a stream", server: "bare", ask: http("GET", "/") },
  { name: OURS_LEFT[1] as string, server: "ours", ask: http("GET", "/api/work/stream") },
  { name: "ws, close of a socket", server: "bare", ask: socket("/") },
  { name: OURS_LEFT[2] as string, server: "ours", ask: socket("/ws") },
  { name: OURS_LEFT[3] as string, server: "ours", ask: upload("/api/work/upload") },
  { name: OURS_LEFT[4] as string, server: "ours", ask: http("GET", "/api/work/download") },
]

/** Lets clients leave one at a time, for every row in turn. */
export async function measureDisconnects(): Promise<Disconnects[]> {
  const servers = { bare: await start("bare"), ours: await start("ours") }
  const times = ROWS.map((): number[] => [])
  try {
    for (let round = -WARM_UP; round < COUNT; round++) {
      for (const [at, { server, ask }] of ROWS.entries()) {
        const milliseconds = await leave(servers[server], ask)
        if (round >= 0) times[at]?.push(milliseconds)
      }
    }
  } finally {
    for (const { child } of Object.values(servers)) child.kill("SIGKILL")
  }
  return ROWS.map(({ name }, at) => {
    const sorted = (times[at] ?? []).toSorted((a, b) => a - b)
    const quantile = (share: number): number =>
      sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
    return { name, count: sorted.length, median: quantile(0.5), p99: quantile(0.99) }
  })
}

interface Started {
  readonly child: ChildProcess
  readonly port: number
}

async function start(name: Row["server"]): Promise<Started> {
  const child = fork(SERVER, [name], { execArgv: ["--import", "tsx"] })
  return { child, port: await waitForMessage<number>(child) }
}

async function leave({ child, port }: Started, ask: Ask): Promise<number> {
  const began = waitForMessage<Message>(child)
  const end = await ask(port)
  await began
  const over = waitForMessage<Message>(child)
  const at = process.hrtime.bigint()
  end()
  const { overAt } = (await over) as { readonly overAt: string }
  return Number(BigInt(overAt) - at) / 1e6
}

function waitForMessage<TWord>(child: ChildProcess): Promise<TWord> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void =>
      reject(new Error(`A process of the benchmark ended with ${code}.`))
    child.once("exit", fail)
    child.once("message", (word) => {
      child.off("exit", fail)
      resolve(word as TWord)
    })
  })
}

function http(method: string, path: string): Ask {
  return async (port) => {
    const made = connect(port, "127.0.0.1")
    made.on("error", () => undefined).resume()
    const length = method === "POST" ? "content-length: 0\r\n" : "accept: text/event-stream\r\n"
    made.write(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${length}\r\n`)
    return () => made.destroy()
  }
}

/** Sends a part of a file, more than a server reads before its handler runs. */
function upload(path: string): Ask {
  return async (port) => {
    const made = connect(port, "127.0.0.1")
    made.on("error", () => undefined).resume()
    made.write(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: image/png\r\ncontent-length: 1000000000\r\n\r\n`,
    )
    made.write(Buffer.alloc(2_000_000))
    return () => made.destroy()
  }
}

function socket(path: string): Ask {
  return async (port) => {
    const made = new WebSocket(`ws://127.0.0.1:${port}${path}`)
    made.on("error", () => undefined)
    await once(made, "open")
    made.send(REQUEST)
    return () => made.terminate()
  }
}
