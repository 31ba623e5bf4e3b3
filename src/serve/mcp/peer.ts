import { MAX_TIMER_DELAY } from "../../internal/clock.ts"
import { CancelToken } from "../../internal/signals.ts"
import type { JsonObject, LogLevel, MCPEra } from "../../mcp/model.ts"
import type { KnownCaller } from "../authenticate.ts"
import type { HTTPIncoming } from "../exchange.ts"
import { notification } from "./messages.ts"
import type { ProvideValues } from "../../tools/model.ts"
import type { JsonRpcError } from "../../mcp/error-parts.ts"
import type { Answer, RequestId } from "./messages.ts"
import type { RPCNotification, RPCRequest, RPCResponse } from "./messages.ts"

/** Where the messages that belong to a request are sent. */
export interface Channel {
  /** Sends the text of a message before the response. */
  send(text: string): void
  /** Sends the response of one request; `undefined` when it gets none. */
  finish(answer: Answer | undefined): void
}

/** How a question to a client ended. */
export type Reaction =
  | { readonly is: "answered"; readonly result: JsonObject }
  | { readonly is: "refused"; readonly error: JsonRpcError }
  | { readonly is: "late" }
  | { readonly is: "ended" }

/** A client: what it has said of itself, what it has asked for, and what it is asked. */
export class Peer {
  /** As declared by `initialize`. */
  capabilities: JsonObject | undefined = undefined
  /** As set by `logging/setLevel`. */
  logLevel: LogLevel | undefined = undefined
  readonly #running: Map<RequestId, Exchange> | undefined
  readonly #questions = new Map<number, (response: RPCResponse) => void>()
  /** Resources whose changes it wants to hear of; each is ended by its function. */
  readonly watched: Map<string, () => void> = new Map()
  /** Sends the text of a message that belongs to no request; `undefined` for a client of one request. */
  readonly write: ((text: string) => void) | undefined
  #lastId = 0

  /** A client of several requests can cancel them, and answer questions. */
  constructor(isLasting: boolean, write?: (text: string) => void) {
    this.#running = isLasting ? new Map() : undefined
    this.write = write
  }

  begin(exchange: Exchange): void {
    this.#running?.set(exchange.request.id, exchange)
  }

  end(exchange: Exchange): void {
    const { id } = exchange.request
    if (this.#running?.get(id) === exchange) this.#running.delete(id)
  }

  /** Accepts what needs no response. */
  receive({ method, params, ...response }: Partial<RPCNotification> & RPCResponse): void {
    if (method === undefined) this.#questions.get(Number(response.id))?.(response)
    else if (method === "notifications/cancelled") {
      this.#running?.get(params?.["requestId"] as RequestId)?.cancel(params?.["reason"])
    }
  }

  /** Asks the client while an exchange is open, for some time. */
  ask(exchange: Exchange, question: RPCNotification, milliseconds: number): Promise<Reaction> {
    if (exchange.token.aborted) return Promise.resolve({ is: "ended" })
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const settle = (reaction: Reaction): void => {
        clearTimeout(timer)
        stop()
        this.#questions.delete(id)
        resolve(reaction)
      }
      const withdraw = (is: "late" | "ended", reason: string): void => {
        exchange.send(notification("notifications/cancelled", { requestId: id, reason }))
        settle({ is })
      }
      const timer = setTimeout(
        () => withdraw("late", "There was no answer in time."),
        Math.min(milliseconds, MAX_TIMER_DELAY),
      )
      const stop = exchange.onEnd(() => withdraw("ended", "The call has ended."))
      this.#questions.set(id, ({ result = {}, error }) =>
        settle(error === undefined ? { is: "answered", result } : { is: "refused", error }),
      )
      exchange.send({ jsonrpc: "2.0", id, ...question })
    })
  }

  /** Cancels all that the client has asked for. */
  close(reason: string): void {
    for (const stop of this.watched.values()) stop()
    this.watched.clear()
    for (const exchange of this.#running?.values() ?? []) exchange.cancel(reason)
  }
}

/** One request that is being answered. */
export class Exchange {
  readonly peer: Peer
  readonly era: MCPEra
  readonly request: RPCRequest
  readonly caller: KnownCaller
  readonly valuesFor: ProvideValues | undefined
  /** The request that brought it; `undefined` over stdio. */
  readonly incoming: Pick<HTTPIncoming, "header"> | undefined
  /** Ends the work for the request. */
  readonly token: CancelToken = new CancelToken()
  readonly #channel: Channel
  #isOver = false
  #listeners: Set<() => void> | undefined

  constructor(
    peer: Peer,
    era: MCPEra,
    request: RPCRequest,
    caller: KnownCaller,
    channel: Channel,
    valuesFor?: ProvideValues,
    incoming?: Pick<HTTPIncoming, "header">,
  ) {
    this.incoming = incoming
    this.valuesFor = valuesFor
    this.peer = peer
    this.era = era
    this.request = request
    this.caller = caller
    this.#channel = channel
  }

  /** Sends a message before the response; one that has no JSON, such as that of a log, is left out. */
  send(message: object): void {
    if (this.#isOver) return
    let text: string
    try {
      text = JSON.stringify(message)
    } catch {
      return
    }
    this.#channel.send(text)
  }

  /** Sends the response, unless the client no longer wants it. */
  finish(answer: Answer | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#channel.finish(answer)
  }

  /** Ends the work, and then there is no response. */
  cancel(reason: unknown): void {
    this.end(reason)
    this.finish(undefined)
  }

  /** Ends the work. */
  end(reason: unknown): void {
    this.token.cancel(reason)
    for (const listener of this.#listeners ?? []) listener()
  }

  /** Notifies when the work, which is going on, is ended. Returns a function that unsubscribes. */
  onEnd(listener: () => void): () => void {
    const listeners = (this.#listeners ??= new Set())
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
}
