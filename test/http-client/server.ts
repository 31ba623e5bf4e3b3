import { createServer } from "node:http"
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http"
import { createServer as createTcpServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"
import type { ExchangeOptions, HttpResponse } from "../../src/http-client/exchange.ts"
import type { PreparedRequest } from "../../src/http-client/request.ts"
import { PATIENCE } from "../support/patience.ts"

/** A real server on loopback, and what it has seen. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly requests: { readonly method: string; readonly url: string; readonly body: string }[]
  readonly headers: IncomingMessage["headers"][]
  /** Requests whose connection is there and whose answer is not finished. */
  readonly open: () => number
  /** Connections that were ever made. */
  readonly connections: () => number
}

/** Answers with a function; the body of each request is recorded before. */
export async function serve(answer: RequestListener): Promise<TestServer> {
  const requests: { method: string; url: string; body: string }[] = []
  const headers: IncomingMessage["headers"][] = []
  let open = 0
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = ""
    // Not the connections: the platform keeps a spare one where it has closed another.
    open++
    response.on("close", () => open--)
    request.setEncoding("latin1")
    request.on("data", (chunk: string) => (body += chunk))
    request.on("end", () => {
      requests.push({ method: request.method ?? "", url: request.url ?? "", body })
      headers.push(request.headers)
      answer(request, response)
    })
  })
  // A client that stood still for seconds would send into a connection that is being closed.
  server.keepAliveTimeout = 0
  const { url, connections, close } = await listen(server)
  return { url, requests, headers, open: () => open, connections, [Symbol.asyncDispose]: close }
}

/** A server that says exactly these bytes, whatever HTTP thinks of them. */
export async function serveRaw(answer: (socket: Socket) => void): Promise<TestServer> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined)
    socket.once("data", () => answer(socket))
  })
  const { url, connections, close } = await listen(server as Server)
  const open = (): number => 0
  return { url, requests: [], headers: [], open, connections, [Symbol.asyncDispose]: close }
}

async function listen(server: Server): Promise<{
  url: string
  connections: () => number
  close: () => Promise<void>
}> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on("connection", (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A port where nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await serve((_request, response) => response.end())
  await server[Symbol.asyncDispose]()
  return server.url
}

/** Waits for something that another end of a connection has to notice first. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE
  while (!condition()) {
    if (Date.now() > end) throw new Error("What was waited for did not happen.")
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export function get(url: string, more: Partial<PreparedRequest> = {}): PreparedRequest {
  return { method: "GET", url, headers: {}, body: undefined, ...more }
}

export function options(more: Partial<ExchangeOptions> = {}): ExchangeOptions {
  return {
    fetch: globalThis.fetch,
    signal: new AbortController().signal,
    operationId: "demo.get",
    secrets: [],
    mayHaveEffect: false,
    ...more,
  }
}

/** A response whose body is these chunks. */
export function responseOf(
  chunks: readonly (string | Uint8Array)[],
  more: Partial<HttpResponse> = {},
): HttpResponse {
  return {
    status: 200,
    statusText: "OK",
    headers: {},
    contentType: "application/json",
    url: "https://api.test/pets",
    body: bodyOf(chunks),
    ...more,
  }
}

export function bodyOf(chunks: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const left = [...chunks]
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk)
    },
  })
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error("It did not fail.")
}

/** All that an iterable gives. */
export async function collect<TItem>(items: AsyncIterable<TItem>): Promise<TItem[]> {
  const all: TItem[] = []
  for await (const item of items) all.push(item)
  return all
}
