/**
 * A server of work that never ends by itself. It reports when work starts, and when its signal fires.
 *
 * In a separate process. Sends its port first; the monotonic clock is the same for all processes.
 */
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"
import { loadBuiltHTTP } from "./library.ts"

/** Its messages after the port. */
export type Message = { readonly began: true } | { readonly overAt: string }

const send = (message: Message): unknown => process.send?.(message)
const began = (): unknown => send({ began: true })
const over = (): unknown => send({ overAt: String(process.hrtime.bigint()) })

const server = process.argv[2] === "ours" ? await ours() : bare()
// The parent process is gone.
process.on("disconnect", () => process.exit())
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))

/** Node alone, and `ws` for sockets. */
function bare(): Server {
  const made = createServer((request, response) => {
    response.on("close", over)
    if (request.method === "POST") request.resume()
    else response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n")
    began()
  })
  new WebSocketServer({ server: made }).on("connection", (socket) => {
    socket.on("message", began)
    socket.on("close", over)
  })
  return made
}

async function ours(): Promise<Server> {
  const { createRegistry, defineOperation, serveHTTP } = await loadBuiltHTTP()
  const base = {
    namespace: "work",
    description: "",
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
  }
  const stopped = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        over()
        resolve()
      })
      began()
    })
  const file = { format: "binary", "x-operation-file": "stream" }
  const made = createServer()
  const registry = createRegistry([
    defineOperation({
      ...base,
      name: "call",
      type: "mutation",
      handler: (_, { signal }) => stopped(signal),
    }),
    defineOperation({
      ...base,
      name: "stream",
      type: "subscription",
      async *handler(_, { signal }) {
        yield 1
        await stopped(signal)
      },
    }),
    defineOperation({
      ...base,
      name: "upload",
      type: "mutation",
      inputSchema: { type: "object", properties: { file }, required: ["file"] },
      handler: async (input, { signal }) => {
        const { file: sent } = input as { readonly file: Blob }
        sent
          .stream()
          .pipeTo(new WritableStream())
          .catch(() => undefined)
        await stopped(signal)
      },
    }),
    defineOperation({
      ...base,
      name: "download",
      type: "query",
      outputSchema: file,
      handler: endless,
    }),
  ])
  await serveHTTP(registry, { server: made, maxUploadBytes: Number.MAX_SAFE_INTEGER })
  return made
}

/** An endless file: it is cancelled when its reader leaves. */
function endless(): object {
  let isRead = false
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(65_536))
      if (!isRead) began()
      isRead = true
    },
    cancel: () => void over(),
  })
  return { type: "", stream: () => stream, arrayBuffer: () => undefined }
}
