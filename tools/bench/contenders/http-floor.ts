import { once } from "node:events"
import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Quote } from "../cases.ts"
import type { QuoteInput } from "../cases.ts"
import { quoteByHand } from "./floor.ts"
import { parser, quotes } from "./socket.ts"

const parseItem = parser<Quote>(Quote)
const SSE = { "content-type": "text/event-stream", "cache-control": "no-store" }

/** The small case with Node alone: parse, check, handler, check, stringify. */
export function httpFloor(): Server {
  return createServer((request, response) => {
    const url = request.url ?? ""
    if (request.method === "POST" && url === "/quote") post(request, response, bare)
    else if (request.method === "POST" && url === "/enveloped") post(request, response, enveloped)
    else if (url.startsWith("/quotes?count=")) void stream(Number(url.slice(14)), response, bare)
    else if (url.startsWith("/enveloped?count="))
      void stream(Number(url.slice(17)), response, enveloped)
    else if (url === "/idle") {
      response.writeHead(200, SSE)
      response.write("id: 1\ndata: {}\n\n")
    } else response.writeHead(404).end()
  })
}

type Wrap = (item: Quote) => unknown

function post(request: IncomingMessage, response: ServerResponse, wrap: Wrap): void {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()
    void answer(text, response, wrap)
  })
}

async function answer(text: string, response: ServerResponse, wrap: Wrap): Promise<void> {
  try {
    const body = JSON.stringify(wrap(await quoteByHand(JSON.parse(text) as QuoteInput)))
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    })
    response.end(body)
  } catch {
    response.writeHead(400, { "content-length": 0 }).end()
  }
}

const bare: Wrap = (item) => item

/** What the gateway sends, written by hand. */
const enveloped: Wrap = (data) => ({
  data,
  meta: { source: "local", operationId: "shop.quotes", timestamp: Date.now() },
})

/** One write for each event, with back-pressure of the connection. */
async function stream(count: number, response: ServerResponse, wrap: Wrap): Promise<void> {
  response.writeHead(200, SSE)
  let id = 0
  for await (const item of quotes(count)) {
    const event = `id: ${++id}\ndata: ${JSON.stringify(wrap(parseItem(item)))}\n\n`
    if (!response.write(event)) await once(response, "drain")
  }
  response.end("event: end\ndata: {}\n\n")
}
