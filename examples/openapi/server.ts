import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

const books = [
  { isbn: "978-0141439518", title: "Pride and Prejudice" },
  { isbn: "978-0141439471", title: "Frankenstein" },
  { isbn: "978-0141441146", title: "Jane Eyre" },
]

/** A small library on loopback, which also serves the document that describes it. */
export async function startLibrary(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://library")
  const body = await text(request)
  switch (`${request.method} ${pathname}`) {
    case "GET /openapi.yaml":
      response.end(await readFile(new URL("library.yaml", import.meta.url)))
      return
    case "GET /books":
      listBooks(Number(searchParams.get("page") ?? 1), response)
      return
    case "POST /loans":
      lend(String(request.headers["x-reader-key"]), JSON.parse(body), response)
      return
    case "POST /questions":
      reply(JSON.parse(body), response)
      return
    case "GET /events":
      tell(Number(request.headers["last-event-id"] ?? 0), response)
      return
  }
  const book = books.find(({ isbn }) => pathname === `/books/${isbn}`)
  if (book === undefined) json(response, 404, { message: "There is no such book." })
  else json(response, 200, book)
}

function listBooks(page: number, response: ServerResponse): void {
  const isLast = page * 2 >= books.length
  if (!isLast) response.setHeader("link", `</books?page=${page + 1}>; rel="next"`)
  json(response, 200, books.slice(page * 2 - 2, page * 2))
}

/** A careless server: its error contains the reader's key. */
function lend(key: string, loan: { isbn: string }, response: ServerResponse): void {
  if (loan.isbn === books[0]?.isbn) json(response, 201, { id: 7, ...loan })
  else json(response, 409, { message: `Reader ${key} has a book already.` })
}

function reply({ stream }: { stream?: boolean }, response: ServerResponse): void {
  const words = ["Second", "shelf"]
  if (stream !== true) {
    json(response, 200, { text: words.join(" ") })
    return
  }
  response.setHeader("content-type", "text/event-stream")
  for (const word of words) response.write(`data: ${JSON.stringify({ word })}\n\n`)
  response.end("data: [DONE]\n\n")
}

/** Sends two events on each connection, then drops it. */
function tell(last: number, response: ServerResponse): void {
  if (last >= 4) {
    response.writeHead(204).end()
    return
  }
  response.setHeader("content-type", "text/event-stream")
  for (const id of [last + 1, last + 2]) {
    response.write(`id: ${id}\nevent: returned\ndata: book ${id}\n\n`)
  }
  response.end()
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}
