import { reasonOf } from "../../../internal/describe.ts"
import type { ProgressUpdate } from "../../../core/types.ts"
import type { RequestCaller } from "./model.ts"
import type { Message, SendOptions, TransportLike } from "./sdk.ts"

/** Marks a request between the transport and our own `fetch`, which takes it off again. */
export const REQUEST_MARK = "x-operations-request"

/** A request on its way, from our side. */
export interface Exchange {
  /** Sent as the progress token: by it the message is known again. */
  readonly token: number
  readonly method: string
  /** Whose request it is. */
  readonly caller?: RequestCaller | undefined
  /** Closes what is still open of a request that was given up. */
  readonly abandoned: AbortSignal
  /** It was handed to the transport. */
  isSent: boolean
  /** Nobody waits any more; it is not sent if it was not yet. */
  readonly isGivenUp: boolean
  /** From a `Retry-After` header. */
  retryAfterMs: number | undefined
  progressed(update: ProgressUpdate): void
  answered(result: unknown): void
  failed(error: unknown): void
  /** The stream that was to bring the answer has ended. */
  streamEnded(): void
}

/** Told of what nobody asked for. */
export interface FrameEvents {
  notified(method: string, params: unknown): void
  closed(): void
  erred(error: Error): void
  dropped(why: string): void
}

// Of no interest to the caller, who gets the raw one; valid in both eras.
const HARMLESS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "tools/call": { content: [] },
  "tools/list": { tools: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
  "resources/read": { contents: [] },
  "prompts/list": { prompts: [] },
  "prompts/get": { messages: [] },
}

/**
 * Stands between the package's client and a transport, and sees every message as it came.
 *
 * Results go to whoever asked, untouched; the client gets an empty one of the right kind, because it
 * would refuse a list for one odd tool and a result for one unknown block. Progress is delivered
 * here, at once and in order: the client loses what comes right before the result.
 */
export class FramedTransport {
  onmessage: ((message: unknown, extra?: unknown) => void) | undefined = undefined
  onclose: (() => void) | undefined = undefined
  onerror: ((error: Error) => void) | undefined = undefined
  readonly #inner: TransportLike
  readonly #events: FrameEvents
  readonly #byToken = new Map<number, Exchange>()
  readonly #byId = new Map<unknown, Exchange>()
  readonly #ids = new Map<Exchange, unknown>()
  #isClosed = false

  constructor(inner: TransportLike, events: FrameEvents) {
    this.#inner = inner
    this.#events = events
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  get hasPerRequestStream(): boolean | undefined {
    return this.#inner.hasPerRequestStream
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  start(): Promise<void> {
    const inner = this.#inner
    inner.onmessage = (message: unknown, extra?: unknown) => this.#receive(message, extra)
    inner.onclose = () => this.#close()
    inner.onerror = (error) => {
      this.#events.erred(error)
      this.onerror?.(error)
    }
    return inner.start()
  }

  send(message: Message, options?: SendOptions): Promise<void> {
    const exchange = this.#exchangeOf(message)
    if (exchange === undefined) return this.#inner.send(message as never, options)
    if (exchange.isGivenUp) {
      this.#byToken.delete(exchange.token)
      return Promise.reject(new Error("The request was given up before it was sent."))
    }
    const { id } = message
    this.#byId.set(id, exchange)
    this.#ids.set(exchange, id)
    exchange.isSent = true
    if (this.#inner.hasPerRequestStream !== true) return this.#inner.send(message as never, options)
    return this.#inner.send(message as never, {
      ...options,
      headers: { ...options?.headers, [REQUEST_MARK]: String(exchange.token) },
      requestSignal: exchange.abandoned,
      onRequestStreamEnd: () => exchange.streamEnded(),
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** Has messages of this request recognised, until `forget`. */
  expect(exchange: Exchange): void {
    this.#byToken.set(exchange.token, exchange)
  }

  /** Has the client stop waiting for an answer; gives the id of the request if that had been sent. */
  cancel(exchange: Exchange): unknown {
    const id = this.#ids.get(exchange)
    this.forget(exchange)
    if (id === undefined) return undefined
    this.#hand({ jsonrpc: "2.0", id, error: { code: -32603, message: "given up" } })
    return id
  }

  forget(exchange: Exchange): void {
    // One that the client has yet to send is stopped when it comes.
    if (exchange.isSent || !exchange.isGivenUp) this.#byToken.delete(exchange.token)
    this.#byId.delete(this.#ids.get(exchange))
    this.#ids.delete(exchange)
  }

  exchange(token: number): Exchange | undefined {
    return this.#byToken.get(token)
  }

  #exchangeOf(message: Message): Exchange | undefined {
    if (message["method"] === undefined || message["id"] === undefined) return undefined
    const meta = memberOf(message["params"], "_meta")
    const token = memberOf(meta, "progressToken")
    return typeof token === "number" ? this.#byToken.get(token) : undefined
  }

  #receive(message: unknown, extra: unknown): void {
    if (Array.isArray(message)) {
      for (const one of message as unknown[]) this.#receive(one, extra)
      return
    }
    if (typeof message !== "object" || message === null) {
      this.#events.dropped("a message that is no JSON object")
      return
    }
    const { id, method, jsonrpc } = message as Message
    if (jsonrpc !== "2.0") this.#events.dropped("a message that is not JSON-RPC 2.0")
    else if (method === undefined) this.#respond(message as Message, id, extra)
    else if (method === "notifications/progress") this.#progress(message as Message, extra)
    else {
      if (id === undefined && typeof method === "string") {
        this.#events.notified(method, (message as Message)["params"])
      }
      this.#hand(message, extra)
    }
  }

  #respond(message: Message, id: unknown, extra: unknown): void {
    if (typeof id !== "number" && typeof id !== "string") {
      this.#events.dropped("an answer without the id of a request")
      return
    }
    const exchange = this.#byId.get(id) ?? this.#byId.get(numberOf(id))
    if (exchange === undefined) {
      this.#hand(message, extra)
      return
    }
    const { jsonrpc } = message
    const known = this.#ids.get(exchange)
    this.forget(exchange)
    if (message["error"] !== undefined) {
      this.#hand({ jsonrpc, id: known, error: errorOf(message["error"]) }, extra)
      return
    }
    exchange.answered(message["result"])
    const harmless = HARMLESS[exchange.method] ?? {}
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", ...harmless }
    this.#hand({ jsonrpc, id: known, result }, extra)
  }

  /** Hands a message to the client of the SDK, which throws on some: no transport expects that. */
  #hand(message: unknown, extra?: unknown): void {
    try {
      this.onmessage?.(message, extra)
    } catch (error) {
      this.#events.dropped(`a message that cannot be read (${reasonOf(error)})`)
    }
  }

  #progress(message: Message, extra: unknown): void {
    const params = message["params"]
    const token = memberOf(params, "progressToken")
    const exchange = this.#byToken.get(numberOf(token) as number)
    if (exchange === undefined) {
      // Late, or of nobody: the client would call it an error.
      if (typeof token !== "number" && typeof token !== "string") this.#hand(message, extra)
      return
    }
    const [progress, total, text] = ["progress", "total", "message"].map((key) =>
      memberOf(params, key),
    )
    if (typeof progress !== "number") {
      this.#events.dropped("progress that is no number")
      return
    }
    exchange.progressed({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof text === "string" && { message: text }),
    })
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#events.closed()
    this.onclose?.()
  }
}

/** A member of what may be an object. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, unknown>>)[key]
}

/** Some servers send ids and tokens back as texts. */
function numberOf(value: unknown): unknown {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
}

/** An error of JSON-RPC, whatever the server made of it. */
function errorOf(value: unknown): Message {
  const code = memberOf(value, "code")
  const message = memberOf(value, "message")
  const data = memberOf(value, "data")
  return {
    code: Number.isSafeInteger(code) ? code : -32603,
    message: typeof message === "string" ? message : "The server gave no reason.",
    ...(data !== undefined && { data }),
  }
}
