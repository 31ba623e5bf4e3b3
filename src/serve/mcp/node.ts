import { readNodeBody } from "../read-body.ts"
import { textOf } from "./answers.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import type { Incoming } from "./incoming.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"

/** Answers a Node request with the response of a handler. `body` is what a framework has parsed. */
export async function answerNode(
  request: NodeRequestLike,
  response: NodeResponseLike,
  handle: (incoming: Incoming) => Promise<Response>,
  body?: unknown,
): Promise<void> {
  const controller = new AbortController()
  const onClose = (): void => {
    if (!response.writableFinished) controller.abort()
  }
  response.on("close", onClose)
  try {
    const answer = await handle(incomingOf(request, controller.signal, body))
    await write(answer, response, controller.signal)
  } finally {
    response.off("close", onClose)
    // An unread body would prevent reuse of the connection.
    request.resume()
  }
}

function incomingOf(request: NodeRequestLike, signal: AbortSignal, body: unknown): Incoming {
  const headers = headersOf(request)
  return {
    method: (request.method ?? "GET").toUpperCase(),
    url: urlOf(request),
    headers,
    like: request,
    signal,
    given: undefined,
    readBody: (maxBytes) => readNodeBody(request, maxBytes, body),
  }
}

/** Headers of a request as web `Headers`, without the pseudo-headers of HTTP/2. */
export function headersOf(request: UpgradeRequestLike): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":")) continue
    for (const one of typeof value === "string" ? [value] : (value ?? [])) headers.append(name, one)
  }
  return headers
}

/** The URL of a request. Only its path is meaningful: the host is not trusted. */
export function urlOf({ url = "/" }: UpgradeRequestLike): string {
  return `http://localhost${url.startsWith("/") ? url : "/"}`
}

async function write(from: Response, to: NodeResponseLike, signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    await from.body?.cancel()
    return
  }
  to.writeHead(from.status, Object.fromEntries(from.headers))
  const text = textOf(from)
  if (text !== undefined || from.body === null) {
    to.end(text)
    return
  }
  to.flushHeaders()
  const reader = from.body.getReader()
  // A pending read has to end, too.
  const leave = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener("abort", leave, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) break
      if (!to.write(value)) await drained(to, signal)
    }
  } finally {
    signal.removeEventListener("abort", leave)
    to.end()
  }
}

async function drained(to: NodeResponseLike, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const go = (): void => {
      to.off("drain", go)
      signal.removeEventListener("abort", go)
      resolve()
    }
    to.once("drain", go)
    signal.addEventListener("abort", go, { once: true })
  })
}
