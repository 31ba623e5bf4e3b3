import { CallError } from "../../errors.ts"
import type { Incoming } from "./http.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"

// As much of Node's HTTP server as answering takes.

type Listener = (chunk: Uint8Array) => void

/** A request of Node; `http.IncomingMessage` is one. */
export interface NodeRequestLike extends UpgradeRequestLike {
  readonly method?: string | undefined
  /** What a body parser has left. */
  readonly body?: unknown
  on(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
  resume(): unknown
}

/** A response of Node; `http.ServerResponse` is one. */
export interface NodeResponseLike {
  readonly writableFinished: boolean
  readonly destroyed: boolean
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown
  flushHeaders(): void
  write(chunk: Uint8Array): boolean
  end(): unknown
  on(type: string, listener: Listener): unknown
  once(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
}

/** Answers a request of Node with what a handler of web requests says. */
export async function answerNode(
  request: NodeRequestLike,
  response: NodeResponseLike,
  handle: (incoming: Incoming) => Promise<Response>,
): Promise<void> {
  const controller = new AbortController()
  const onClose = (): void => {
    if (!response.writableFinished) controller.abort()
  }
  response.on("close", onClose)
  try {
    await write(await handle(incomingOf(request, controller.signal)), response, controller.signal)
  } finally {
    response.off("close", onClose)
    // What was not read of a body would keep the connection from being used again.
    request.resume()
  }
}

function incomingOf(request: NodeRequestLike, signal: AbortSignal): Incoming {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":")) continue
    for (const one of typeof value === "string" ? [value] : (value ?? [])) headers.append(name, one)
  }
  return {
    method: (request.method ?? "GET").toUpperCase(),
    url: urlOf(request),
    headers,
    like: request,
    signal,
    given: undefined,
    parsedBody: request.body,
    readBody: (maxBytes) => readBody(request, headers, maxBytes),
  }
}

// Only its path means anything to anyone; the name is not to be trusted.
function urlOf({ url = "/" }: NodeRequestLike): string {
  return `http://localhost${url.startsWith("/") ? url : "/"}`
}

/** The text of a body; `undefined` as soon as it is longer than that. */
async function readBody(
  request: NodeRequestLike,
  headers: Headers,
  maxBytes: number,
): Promise<string | undefined> {
  if (Number(headers.get("content-length")) > maxBytes) return undefined
  const decoder = new TextDecoder()
  let text = ""
  let size = 0
  return await new Promise((resolve, reject) => {
    const settle = (result: () => void) => (): void => {
      request.off("data", onData)
      request.off("end", onEnd)
      request.off("error", onError)
      request.off("close", onError)
      result()
    }
    const onData = (chunk: Uint8Array): void => {
      size += chunk.byteLength
      if (size > maxBytes) settle(() => resolve(undefined))()
      else text += decoder.decode(chunk, { stream: true })
    }
    const onEnd = settle(() => resolve(text + decoder.decode()))
    const onError = settle(() => reject(new CallError("ABORTED", "The request was not completed.")))
    request.on("data", onData)
    request.on("end", onEnd)
    request.on("error", onError)
    request.on("close", onError)
  })
}

async function write(from: Response, to: NodeResponseLike, signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    await from.body?.cancel()
    return
  }
  to.writeHead(from.status, Object.fromEntries(from.headers))
  if (from.body === null) {
    to.end()
    return
  }
  to.flushHeaders()
  const reader = from.body.getReader()
  // Also what waits for its next event has to hear of it.
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
