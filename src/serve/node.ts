import type { Identity } from "../core/types.ts"
import { isStream, Leaving, NULL_SINK, requestIdFor } from "./exchange.ts"
import type { HTTPAnswer, HTTPHandler, HTTPIncoming, HTTPSink } from "./exchange.ts"
import type { MountPaths } from "./http/mount-path.ts"
import type { NodeRequestLike, NodeResponseLike } from "./node-types.ts"
import { openNodeBody, readNodeBody, byteLength, type RequestSlot } from "./read-body.ts"

/**
 * Answers a Node request with Node's own objects. `paths` resolves its path, and `body` is what a
 * framework has parsed. Resolves when all was written, if that is not at once; never throws or rejects.
 */
export function answerNode(
  request: NodeRequestLike,
  response: NodeResponseLike,
  handle: HTTPHandler,
  paths?: MountPaths,
  body?: unknown,
): Promise<void> | undefined {
  const incoming = new NodeIncoming(request, response, paths, body)
  // Only foreign mounts answer with headers that Node rejects.
  const fail = (error: unknown): void => void response.destroy(error as Error)
  try {
    const answer = handle(incoming)
    if (!(answer instanceof Promise)) return send(answer, incoming, response)
    return answer.then((settled) => send(settled, incoming, response)).catch(fail)
  } catch (error) {
    fail(error)
    return undefined
  }
}

class NodeIncoming implements HTTPIncoming {
  readonly method: string
  readonly path: string
  readonly mountPath: string
  readonly query: string
  readonly like: NodeRequestLike
  readonly identity: Identity | null | undefined = undefined
  slot: RequestSlot | undefined = undefined
  readonly #response: NodeResponseLike
  readonly #body: unknown
  #leaving: Leaving | undefined
  #requestId: string | undefined

  constructor(
    request: NodeRequestLike,
    response: NodeResponseLike,
    paths: MountPaths | undefined,
    body: unknown,
  ) {
    const { method = "GET", url = "/", originalUrl } = request
    const queryAt = url.indexOf("?")
    const path = queryAt === -1 ? url : url.slice(0, queryAt)
    this.method = method
    if (paths === undefined || originalUrl === undefined || originalUrl === url) {
      this.path = path
      this.mountPath = ""
    } else {
      const placed = paths.ofNode(path, originalUrl)
      this.path = placed.path
      this.mountPath = placed.mountPath
    }
    this.query = queryAt === -1 ? "" : url.slice(queryAt + 1)
    this.like = request
    this.#response = response
    this.#body = body
  }

  header(name: string): string | undefined {
    const value = this.like.headers[name]
    return typeof value === "string" ? value : value?.join(", ")
  }

  get requestId(): string {
    return (this.#requestId ??= requestIdFor(this.header("request-id")))
  }

  /** The request id, if the client sent one or it was created. */
  get knownId(): string | undefined {
    const isGiven = this.like.headers["request-id"] !== undefined
    return isGiven ? this.requestId : this.#requestId
  }

  /** Created on first use: most answers are sent before a client could disconnect. */
  get leaving(): Leaving {
    if (this.#leaving !== undefined) return this.#leaving
    const leaving = new Leaving()
    const response = this.#response
    this.#leaving = leaving
    if (response.destroyed) leaving.leave()
    else {
      response.on("close", () => {
        if (!response.writableFinished) leaving.leave()
      })
    }
    return leaving
  }

  onGone(listener: () => void): () => void {
    return this.leaving.listen(listener)
  }

  readBody(maxBytes: number): Promise<string | undefined> {
    return readNodeBody(this.like, maxBytes, this.#body, this.slot)
  }

  openBody(): ReadableStream<Uint8Array> {
    return openNodeBody(this.like, this.#response, this.#body)
  }
}

/** Placeholder for an answer that other code has sent. */
export const ALREADY_SENT: HTTPAnswer = { status: 0, headers: {} }

function send(
  answer: HTTPAnswer,
  incoming: NodeIncoming,
  response: NodeResponseLike,
): Promise<void> | undefined {
  if (answer === ALREADY_SENT) return undefined
  const { status, headers, body } = answer
  const isHead = incoming.method === "HEAD"
  if (isStream(body) && (isHead || response.destroyed)) {
    // Never rejects.
    void body.run(NULL_SINK)
  }
  if (response.destroyed) return undefined
  const { knownId } = incoming
  const lines = linesOf(headers)
  if (knownId !== undefined) lines.push("request-id", knownId)
  if (isStream(body)) {
    response.writeHead(status, lines as never)
    if (!isHead) {
      response.flushHeaders?.()
      return body.run(new NodeSink(incoming.leaving, response)).then(() => void response.end())
    }
    response.end()
    return undefined
  }
  if (status !== 204 && status !== 304) lines.push("content-length", String(byteLength(body)))
  response.writeHead(status, lines as never)
  if (isHead || body === undefined) response.end()
  else response.end(body)
  return undefined
}

/** Headers as the flat list that Node expects. */
function linesOf(headers: Readonly<Record<string, string>>): string[] {
  if (headers === lastHeaders) return lastLines.slice()
  const lines: string[] = []
  for (const name in headers) {
    const value = headers[name] as string
    if (name !== "set-cookie") lines.push(name, value)
    else for (const cookie of value.split("\n")) lines.push(name, cookie)
  }
  lastHeaders = headers
  lastLines = lines.slice()
  return lines
}

// Cached: most answers have the same headers as the previous one.
let lastHeaders: Readonly<Record<string, string>> | undefined
let lastLines: readonly string[] = []

/** Sink of a Node response. A class, because many idle streams would add up as closures. */
class NodeSink implements HTTPSink {
  readonly #leaving: Leaving
  readonly #response: NodeResponseLike

  constructor(leaving: Leaving, response: NodeResponseLike) {
    this.#leaving = leaving
    this.#response = response
  }

  get isGone(): boolean {
    return this.#leaving.isGone
  }

  write(chunk: string | Uint8Array): boolean {
    return this.#leaving.isGone || this.#response.write(chunk)
  }

  cut(): void {
    this.#response.destroy()
  }

  drained(): Promise<void> {
    const response = this.#response
    if (!response.writableNeedDrain || this.#leaving.isGone) return Promise.resolve()
    return new Promise<void>((resolve) => {
      const go = (): void => {
        response.off("drain", go)
        stop()
        resolve()
      }
      response.once("drain", go)
      const stop = this.#leaving.listen(go)
    })
  }

  onGone(listener: () => void): () => void {
    return this.#leaving.listen(listener)
  }
}
