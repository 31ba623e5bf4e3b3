import { Closable } from "../internal/closable.ts"
import { hasMethods, validateOptions, type OptionsSchema } from "../internal/options.ts"
import { decodeCallEvent, encodeCallEvent } from "../core/event-codec.ts"
import type { CallEvent } from "../core/events.ts"
import { refusal, type CallError } from "../core/errors.ts"
import { setRef } from "../internal/defer.ts"
import { reasonOf } from "../internal/message-text.ts"
import { isFileLike } from "../schema/files.ts"
import { isPlainObject } from "../internal/guards.ts"
import type { Transport, TransportReceiver } from "../protocol/transport.ts"

/** A port between threads: a `Worker`, a `MessagePort`, `parentPort`, `self`. */
export interface PortLike {
  postMessage(message: unknown): void
  addEventListener?(type: string, listener: (event: unknown) => void): void
  removeEventListener?(type: string, listener: (event: unknown) => void): void
  on?(type: string, listener: (value: unknown) => void): unknown
  off?(type: string, listener: (value: unknown) => void): unknown
}

/** Options of `createWorkerTransport`. */
export interface WorkerTransportOptions {
  /** Accept identities that the other thread claims. Off by default: a worker may run foreign code. */
  readonly isTrusted?: boolean | undefined
  /** `close()` also terminates the worker. Off by default: the creator of the worker terminates it. */
  readonly terminate?: boolean | undefined
}

export const WORKER_OPTIONS: OptionsSchema<WorkerTransportOptions> = {
  isTrusted: "boolean",
  terminate: "boolean",
}

/** A transport between two threads. */
export interface WorkerTransport extends Transport, AsyncDisposable {}

/** Notifies the other end that this one was closed. */
const CLOSED = { type: "transport.closed" } as const

/**
 * A transport over a port to another thread: a Node or Web worker, or any `MessagePort`.
 *
 * Create one at each end: with the worker where it was started, with `parentPort` or `self` inside.
 * Inputs and results cross as structured clones. `close()` closes a `MessagePort` and leaves a worker
 * running, unless `terminate` is set.
 */
export function createWorkerTransport(
  port: PortLike,
  options: WorkerTransportOptions = {},
): WorkerTransport {
  const listens = hasMethods(port, ["on"]) || hasMethods(port, ["addEventListener"])
  if (!listens || !hasMethods(port, ["postMessage"])) {
    throw new TypeError(
      "createWorkerTransport(port): port must be a Worker, a MessagePort, parentPort or the self of " +
        "a Web Worker. In a Node thread that is not a worker, parentPort is null.",
    )
  }
  validateOptions("createWorkerTransport", options, WORKER_OPTIONS)
  return new PortTransport(port, options)
}

class PortTransport extends Closable implements WorkerTransport {
  readonly isTrusted: boolean
  readonly isOneApplication = true
  readonly surface = "worker"
  readonly carriesQuestions = true
  /** With methods that only some ports have. */
  readonly #port: PortLike & { start?(): void; close?(): void; terminate?(): unknown }
  readonly #terminates: boolean
  readonly #listeners: (readonly [type: string, listener: (value: unknown) => void])[] = []
  #receiver: TransportReceiver | undefined
  /** Why nothing can be sent any more; `undefined` while it is open. */
  #over: string | undefined

  constructor(port: PortLike, { isTrusted = false, terminate = false }: WorkerTransportOptions) {
    super()
    this.#port = port
    this.isTrusted = isTrusted
    this.#terminates = terminate
  }

  open(receiver: TransportReceiver): void {
    if (this.#receiver !== undefined) {
      throw new TypeError(
        "This worker transport is already open: create one for each use of a port.",
      )
    }
    this.#receiver = receiver
    if (this.#over !== undefined) return
    if (typeof this.#port.on === "function") {
      this.#listen("message", (message) => this.#onMessage(message))
      this.#listen("exit", (code) => this.#lose(`ended (exit code ${String(code)})`))
      this.#listen("error", (error) => this.#onFailure(error))
      this.#listen("messageerror", (error) => this.#onUnreadable(error))
    } else {
      this.#listen("message", (event) => this.#onMessage((event as MessageEvent).data))
      // On the `self` of a worker, an error is one of this thread.
      if (typeof this.#port.terminate === "function") {
        this.#listen("error", (event) => {
          const { error, message } = event as Partial<ErrorEvent>
          this.#onFailure(error ?? message)
        })
      }
      this.#listen("messageerror", () => this.#onUnreadable())
    }
    this.#listen("close", () => this.#lose("closed its port"))
    this.#port.start?.()
  }

  send(event: CallEvent): void {
    if (this.#over !== undefined) throw unavailable(this.#over)
    // Sent at once, because a handler may change the values later.
    try {
      this.#port.postMessage(withOwnBytes(event))
    } catch (error) {
      if (error !== HAS_FILE) throw uncloned(event, error)
      this.#port.postMessage(JSON.parse(encodeCallEvent(event)))
    }
  }

  protected async end(): Promise<void> {
    const port = this.#port
    if (this.#over === undefined) {
      this.#over = "is no longer connected: this transport was closed"
      this.#sendClosed()
    }
    this.#release()
    // Only a `MessagePort` has to be started; `close` of a Web Worker's `self` would end the worker.
    if (typeof port.start === "function") {
      port.close?.()
      setRef(port, false)
    }
    if (this.#terminates) await port.terminate?.()
    this.#receiver?.lost(unavailable(this.#over, undefined, true))
  }

  #listen(type: string, listener: (value: unknown) => void): void {
    const port = this.#port
    if (typeof port.on === "function") port.on(type, listener)
    else port.addEventListener?.(type, listener)
    this.#listeners.push([type, listener])
  }

  #onMessage(message: unknown): void {
    if (!Array.isArray(message)) return this.#onItem(message)
    for (const item of message as unknown[]) this.#onItem(item)
  }

  #onItem(item: unknown): void {
    // Messages after the end are from a peer that is gone.
    if (this.#over !== undefined) return
    if ((item as { readonly type?: unknown } | null | undefined)?.type === CLOSED.type) {
      this.#lose("closed its end")
    } else this.#receiver?.event(decodeCallEvent(item))
  }

  #onFailure(cause: unknown): void {
    this.#lose(cause === undefined ? "failed" : `failed (${reasonOf(cause)})`, cause)
  }

  /** Handles an unreadable message: it may have been any answer, so that all pending requests fail. */
  #onUnreadable(cause?: unknown): void {
    // The peer is alive, and would otherwise wait for answers.
    if (this.#over === undefined) this.#sendClosed()
    this.#lose("sent a message that this thread cannot read", cause)
  }

  #lose(what: string, cause?: unknown): void {
    if (this.#over !== undefined) return
    this.#over = what
    this.#release()
    this.#receiver?.lost(unavailable(what, cause, true))
  }

  #sendClosed(): void {
    try {
      this.#port.postMessage(CLOSED)
    } catch {
      // A closed port has already notified the other end.
    }
  }

  /** Removes all listeners. A port without listeners does not keep its thread alive. */
  #release(): void {
    const port = this.#port
    for (const [type, listener] of this.#listeners.splice(0)) {
      if (typeof port.off === "function") port.off(type, listener)
      else port.removeEventListener?.(type, listener)
    }
  }
}

function unavailable(what: string, cause?: unknown, mayHaveExecuted = false): CallError {
  const message = `The thread at the other end ${what}. To continue, start a worker and create a new transport for it.`
  // Another worker may run it; this transport never will.
  const terms = { mayHaveExecuted, retryable: !mayHaveExecuted }
  return refusal("UNAVAILABLE", message, cause === undefined ? terms : { ...terms, cause })
}

function uncloned(event: CallEvent, cause: unknown): CallError {
  const reason = reasonOf(cause)
  const { requestId } = event
  if (event.type === "call.requested") {
    const { operationId } = event
    const message = `Input for "${operationId}" cannot be sent to another thread: ${reason} Send plain data.`
    return refusal("VALIDATION_ERROR", message, { cause, requestId, operationId })
  }
  const message = `The result of request "${requestId}" cannot be sent to another thread: ${reason} Return plain data.`
  return refusal("EXECUTION_ERROR", message, { cause, requestId })
}

// Deeper values are left as they are; the receiver validates them.
const MAX_DEPTH = 512

/** Thrown for a file: threads would lose its name, and cannot be sent a stream. */
const HAS_FILE: unique symbol = Symbol("an event with a file")

/**
 * Copies views of shared buffers in an event. Throws `HAS_FILE` if there is a file in it.
 *
 * A structured clone of a view contains the whole buffer behind it. Node allocates small buffers from a shared pool,
 * and a thread that runs foreign code must not see the rest of that pool.
 */
function withOwnBytes(event: CallEvent): CallEvent {
  if (event.type === "call.requested") {
    const input = owned(event.input, 0)
    return input === event.input ? event : { ...event, input }
  }
  if (event.type === "call.responded") {
    const data = owned(event.output.data, 0)
    return data === event.output.data ? event : { ...event, output: { ...event.output, data } }
  }
  return event
}

function owned(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value
  if (value instanceof Uint8Array) {
    return value.byteLength === value.buffer.byteLength ? value : Uint8Array.from(value)
  }
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (const [at, item] of value.entries()) {
      const own = owned(item, depth + 1)
      if (own !== item) (copy ??= [...(value as unknown[])])[at] = own
    }
    return copy ?? value
  }
  if (!isPlainObject(value)) {
    if (isFileLike(value)) throw HAS_FILE
    return value
  }
  let changed: [string, unknown][] | undefined
  for (const [key, item] of Object.entries(value)) {
    const own = owned(item, depth + 1)
    if (own !== item) (changed ??= []).push([key, own])
  }
  return changed === undefined ? value : Object.fromEntries([...Object.entries(value), ...changed])
}
