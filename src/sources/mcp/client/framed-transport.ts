import type { JsonObject } from "../../../mcp/model.ts"
import { reasonOf } from "../../../internal/message-text.ts"
import type { RunningRequest } from "./running-request.ts"
import { memberOf } from "./sdk.ts"
import type { Message, SdkModule, SendOptions, TransportLike } from "./sdk.ts"

/** Header that identifies a request between the SDK's transport and our `fetch`, which removes it. */
export const REQUEST_TOKEN_HEADER = "x-operations-request"

/** Receives everything that is not a response. */
export interface FrameEvents {
  notified(method: string, params: unknown): void
  closed(): void
  erred(error: Error): void
  dropped(why: string): void
}

/**
 * A transport that the SDK's client shares with us: the client connects and answers the server, and our requests
 * bypass it.
 *
 * The client would refuse a whole list for one invalid tool and a whole result for one unknown block, and it
 * loses progress that arrives right before the result.
 */
export class FramedTransport {
  onmessage: ((message: unknown, extra?: unknown) => void) | undefined = undefined
  onclose: (() => void) | undefined = undefined
  onerror: ((error: Error) => void) | undefined = undefined
  /** Our requests without a response, by id, which is also the progress token. */
  readonly pending: Map<unknown, RunningRequest> = new Map()
  readonly #inner: TransportLike
  readonly #sdk: Pick<SdkModule, "ProtocolError">
  readonly #events: FrameEvents
  #isClosed = false

  constructor(inner: TransportLike, sdk: Pick<SdkModule, "ProtocolError">, events: FrameEvents) {
    this.#inner = inner
    this.#sdk = sdk
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

  /** Sends a message of the client. */
  send(message: Message, options?: SendOptions): Promise<void> {
    return this.#inner.send(message as never, options)
  }

  /** Sends a request of ours. It is pending until its response, or until it is removed. */
  async request(
    running: RunningRequest,
    params: JsonObject,
    headers: () => Readonly<Record<string, string>>,
  ): Promise<void> {
    const { id } = running
    const message = { jsonrpc: "2.0", id, method: running.request.method, params }
    this.pending.set(id, running)
    running.isSent = true
    if (this.#inner.hasPerRequestStream !== true) return await this.#inner.send(message as never)
    await this.#inner.send(message as never, {
      headers: { ...headers(), [REQUEST_TOKEN_HEADER]: String(id) },
      requestSignal: running.abandoned,
      onRequestStreamEnd: () => running.streamEnded(),
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
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
    const { id, method, jsonrpc, params } = message as Message
    if (jsonrpc !== "2.0") this.#events.dropped("a message that is not JSON-RPC 2.0")
    else if (method === undefined) this.#respond(message, extra)
    else if (method === "notifications/progress") this.#progress(message, extra)
    else {
      if (id === undefined && typeof method === "string") this.#events.notified(method, params)
      this.#hand(message, extra)
    }
  }

  #respond(message: Message, extra: unknown): void {
    const { id, error } = message
    if (typeof id !== "number" && typeof id !== "string") {
      this.#events.dropped("an answer without the id of a request")
      return
    }
    const running = this.pending.get(numberOf(id))
    if (running === undefined) {
      this.#hand(message, extra)
      return
    }
    this.pending.delete(running.id)
    if (error === undefined) running.answered(message["result"])
    else running.failed(this.#errorOf(error))
  }

  /** Converts the error of a response, which may be any value, to that of the SDK. */
  #errorOf(error: unknown): Error {
    const code = memberOf(error, "code")
    const message = memberOf(error, "message")
    return this.#sdk.ProtocolError.fromError(
      Number.isSafeInteger(code) ? (code as number) : -32603,
      typeof message === "string" ? message : "The server gave no reason.",
      memberOf(error, "data"),
    )
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
    const { params } = message
    const token = memberOf(params, "progressToken")
    const running = this.pending.get(numberOf(token))
    if (running === undefined) {
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
    running.progressed({
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

/** Some servers send ids and tokens back as strings. */
function numberOf(value: unknown): unknown {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
}
