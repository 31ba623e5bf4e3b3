import { reasonOf } from "../../../internal/message-text.ts"
import type { ProgressUpdate } from "../../../core/types.ts"
import type { RequestCaller } from "./model.ts"
import type { Message, SendOptions, TransportLike } from "./sdk.ts"

/** Header that identifies a request between the SDK's transport and our `fetch`, which removes it. */
export const REQUEST_TOKEN_HEADER = "x-operations-request"

/** A pending request of ours. */
export interface Exchange {
  /** Sent as the progress token, which identifies the messages of this request. */
  readonly token: number
  readonly method: string
  /** Whose request it is. */
  readonly caller?: RequestCaller | undefined
  /** Fires when the request was given up, to close what is still open. */
  readonly abandoned: AbortSignal
  /** It was passed to the transport. */
  isSent: boolean
  /** The caller no longer waits; if it has not been sent yet, it will not be. */
  readonly isGivenUp: boolean
  /** From a `Retry-After` header. */
  retryAfterMs: number | undefined
  progressed(update: ProgressUpdate): void
  answered(result: unknown): void
  failed(error: unknown): void
  /** The response stream has ended. */
  streamEnded(): void
}

/** Receives everything that is not a response. */
export interface FrameEvents {
  notified(method: string, params: unknown): void
  closed(): void
  erred(error: Error): void
  dropped(why: string): void
}

// Empty results for the SDK's client, valid in both eras; the caller gets the raw result.
const EMPTY_RESULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "tools/call": { content: [] },
  "tools/list": { tools: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
  "resources/read": { contents: [] },
  "prompts/list": { prompts: [] },
  "prompts/get": { messages: [] },
}

/**
 * Sits between the SDK's client and a transport, and sees every message unchanged.
 *
 * Callers get raw results. The client gets an empty result of the right kind, because it would refuse a whole
 * list for one invalid tool and a whole result for one unknown block. Progress is delivered here, immediately
 * and in order: the client loses updates that arrive right before the result.
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
      headers: { ...options?.headers, [REQUEST_TOKEN_HEADER]: String(exchange.token) },
      requestSignal: exchange.abandoned,
      onRequestStreamEnd: () => exchange.streamEnded(),
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** Recognises messages of this request until `forget`. */
  expect(exchange: Exchange): void {
    this.#byToken.set(exchange.token, exchange)
  }

  /** Makes the client stop waiting for a response; returns the id of the request if it was sent. */
  cancel(exchange: Exchange): unknown {
    const id = this.#ids.get(exchange)
    this.forget(exchange)
    if (id === undefined) return undefined
    this.#hand({ jsonrpc: "2.0", id, error: { code: -32603, message: "given up" } })
    return id
  }

  forget(exchange: Exchange): void {
    // A request that the client has not sent yet is stopped in `send`.
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
      this.#events.dropped("a message that is not a JSON object")
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
    const sentId = this.#ids.get(exchange)
    this.forget(exchange)
    if (message["error"] !== undefined) {
      this.#hand({ jsonrpc, id: sentId, error: errorOf(message["error"]) }, extra)
      return
    }
    exchange.answered(message["result"])
    const empty = EMPTY_RESULTS[exchange.method] ?? {}
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", ...empty }
    this.#hand({ jsonrpc, id: sentId, result }, extra)
  }

  /** Passes a message to the SDK's client, which throws on some; transports do not expect that. */
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
      // Late or unknown: the client would report it as an error.
      if (typeof token !== "number" && typeof token !== "string") this.#hand(message, extra)
      return
    }
    const [progress, total, text] = ["progress", "total", "message"].map((key) =>
      memberOf(params, key),
    )
    if (typeof progress !== "number") {
      this.#events.dropped("progress that is not a number")
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

/** Reads an own property of any value. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, unknown>>)[key]
}

/** Some servers send ids and tokens back as strings. */
function numberOf(value: unknown): unknown {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
}

/** Converts any value to a valid JSON-RPC error. */
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
