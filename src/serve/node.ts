import { refusal, type CallError } from "../core/errors.ts"
import { isPlainObject } from "../internal/guards.ts"
import type { Authenticated } from "./authenticate.ts"
import { ALREADY_SENT, isStream, Leaving, NULL_SINK, requestIdFor } from "./exchange.ts"
import type { HTTPAnswer, HTTPHandler, HTTPIncoming, HTTPSink } from "./exchange.ts"
import type { MountPaths } from "./http/mount-path.ts"
import type { NodeRequestLike, NodeResponseLike } from "./node-types.ts"
import type { RequestSlot } from "./read-body.ts"
import { openNodeBody, readNodeBody, byteLength } from "./read-node-body.ts"

/** What a framework knows about a request of Node. */
export interface NodeGiven {
  /** The body, as the framework has parsed it. */
  readonly body?: unknown
  /** The caller, if you have authenticated it; `null` for an anonymous one. */
  readonly identity?: Authenticated | null | undefined
}

/** A function in place of `NodeGiven`, such as Express's `next`, which is ignored. */
export type IgnoredFunction = (...args: never[]) => unknown

/**
 * Answers a Node request with Node's own objects. `paths` resolves its path. Resolves when all was written, if that is
 * not at once; never throws or rejects.
 */
export function answerNode(
  request: NodeRequestLike,
  response: NodeResponseLike,
  handle: HTTPHandler,
  paths?: MountPaths,
  given?: NodeGiven | IgnoredFunction,
): Promise<void> | undefined {
  const incoming = new NodeIncoming(request, response, paths, given)
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
  readonly identity: Authenticated | null | undefined
  readonly mistake: CallError | undefined
  slot: RequestSlot | undefined = undefined
  response: HTTPIncoming["response"] = undefined
  readonly #response: NodeResponseLike
  readonly #body: unknown
  #leaving: Leaving | undefined
  #requestId: string | undefined

  constructor(
    request: NodeRequestLike,
    response: NodeResponseLike,
    paths: MountPaths | undefined,
    given: NodeGiven | IgnoredFunction | undefined,
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
    const isGiven = given !== undefined && typeof given !== "function"
    this.mistake = isGiven ? mistakeOf(given, request) : undefined
    const { identity, body } = isGiven && this.mistake === undefined ? given : NOTHING
    this.identity = identity
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

const NOTHING: NodeGiven = {}

/**
 * The error for a third argument that is a parsed body: read as the options, its sender could choose an identity. A body
 * with no members but `body` and `identity` looks like options; calls with any other input show the mistake at once.
 */
function mistakeOf(given: NodeGiven, request: NodeRequestLike): CallError | undefined {
  const isGiven =
    isPlainObject(given) &&
    given !== request.body &&
    Object.keys(given).every((key) => key === "body" || key === "identity")
  if (isGiven) return undefined
  return refusal(
    "EXECUTION_ERROR",
    "The call was not run: the third argument of node(request, response, { body, identity }) is something else. " +
      "Pass a parsed body as { body }; in Fastify node(request.raw, reply.raw, { body: request.body }).",
    { mayHaveExecuted: false, retryable: false },
  )
}

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
  const cookies = headers["set-cookie"]
  if (cookies !== undefined) addCookies(cookies.split("\n"), lines, response)
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

/** Adds cookies to those of middleware in front, of which `writeHead` would keep only the last. */
function addCookies(cookies: readonly string[], lines: string[], response: NodeResponseLike): void {
  if (response.setHeader === undefined) {
    for (const cookie of cookies) lines.push("set-cookie", cookie)
    return
  }
  const before = response.getHeader?.("set-cookie") ?? []
  response.setHeader("set-cookie", [...[before].flat().map(String), ...cookies])
}

/** Headers as the flat list that Node expects, without cookies. */
function linesOf(headers: Readonly<Record<string, string>>): string[] {
  if (headers === lastHeaders) return lastLines.slice()
  const lines: string[] = []
  for (const name in headers) {
    if (name !== "set-cookie") lines.push(name, headers[name] as string)
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
