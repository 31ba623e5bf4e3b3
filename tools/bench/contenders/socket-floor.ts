import { once } from "node:events"
import { WebSocket, WebSocketServer } from "ws"
import type { RawData } from "ws"
import { Quote, quote, QuoteInput } from "../cases.ts"
import type { SocketContender } from "./socket.ts"
import { listen, parser, quotes, StreamInput } from "./socket.ts"

type Request =
  | { readonly id: number; readonly input: unknown }
  | { readonly id: number; readonly stream: unknown }
type Answer = { readonly id: number; readonly output?: Quote; readonly error?: string }

interface Waiting {
  item(output: Quote | undefined): void
  fail(error: Error): void
}

/** JSON with an id, a map of pending calls, one frame for each message: no deadline, no flow control. */
export async function socketFloor(): Promise<SocketContender> {
  const { server, url, close } = await listen()
  const wss = new WebSocketServer({ server, perMessageDeflate: false })
  wss.on("connection", (socket) => {
    socket.on("message", (data) => void serve(socket, JSON.parse(textOf(data)) as Request))
  })
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, "open")
  const pending = new Map<number, Waiting>()
  let ids = 0
  socket.on("message", (data) => {
    const { id, output, error } = JSON.parse(textOf(data)) as Answer
    const waiting = pending.get(id)
    if (error === undefined) waiting?.item(output)
    else waiting?.fail(new Error(error))
  })
  return {
    name: "ws by hand",
    call: (input) =>
      new Promise((resolve, reject) => {
        const id = ++ids
        const settle = (): boolean => pending.delete(id)
        pending.set(id, {
          item: (output) => settle() && resolve(output),
          fail: (error) => settle() && reject(error),
        })
        socket.send(JSON.stringify({ id, input }))
      }),
    stream: (count) =>
      new Promise((resolve, reject) => {
        const id = ++ids
        let seen = 0
        pending.set(id, {
          item: (output) => {
            if (output !== undefined) seen++
            else if (pending.delete(id)) resolve(seen)
          },
          fail: reject,
        })
        socket.send(JSON.stringify({ id, stream: { count } }))
      }),
    data: (result) => result,
    async close() {
      socket.terminate()
      wss.close()
      await close()
    },
  }
}

// One buffer, unless the socket's `binaryType` is changed.
function textOf(data: RawData): string {
  return (data as Buffer).toString()
}

const parseInput = parser<QuoteInput>(QuoteInput)
const parseOutput = parser<Quote>(Quote)
const parseStream = parser<StreamInput>(StreamInput)

async function serve(socket: WebSocket, request: Request): Promise<void> {
  const { id } = request
  try {
    if ("stream" in request) {
      for await (const item of quotes(parseStream(request.stream).count)) {
        socket.send(JSON.stringify({ id, output: parseOutput(item) }))
        // Without this, a long stream would fill the memory.
        if (socket.bufferedAmount > 65_536) await new Promise(setImmediate)
      }
      socket.send(JSON.stringify({ id }))
    } else {
      const output = parseOutput(await quote(parseInput(request.input)))
      socket.send(JSON.stringify({ id, output }))
    }
  } catch (error) {
    socket.send(JSON.stringify({ id, error: String(error) }))
  }
}
