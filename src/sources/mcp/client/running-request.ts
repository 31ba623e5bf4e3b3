import type { JsonObject } from "../../../mcp/model.ts"
import { isCallError, type CallError } from "../../../core/errors.ts"
import type { MCPErrorAbout } from "../../../mcp/errors.ts"
import type { CallingClient } from "../../../core/calling-client.ts"
import type { ProgressUpdate } from "../../../core/types.ts"
import type { RequestCaller, RequestInput } from "./model.ts"
import type { RequestTimeout } from "./request-timeout.ts"
import { memberOf } from "./sdk.ts"

/** A request that is part of a call. */
export interface SessionRequest {
  readonly method: string
  readonly params: JsonObject
  readonly phase: MCPErrorAbout["phase"]
  /** The tool, resource or prompt. */
  readonly tool?: string | undefined
  /** The definition of a tool. */
  readonly definition?: unknown
  readonly timeout: RequestTimeout
  readonly progress?: ((update: ProgressUpdate) => void) | undefined
  readonly requestInput?: RequestInput | undefined
  readonly caller?: RequestCaller | undefined
  readonly client?: CallingClient | undefined
}

/** A pending request. */
export class RunningRequest {
  readonly id: number
  readonly request: SessionRequest
  readonly result: Promise<unknown>
  /** It was passed to the transport. */
  isSent = false
  /** An unreadable message arrived, which may have been the response. */
  isGarbled = false
  /** From a `Retry-After` header. */
  retryAfterMs: number | undefined = undefined
  answered: (result: unknown) => void = () => {}
  failed: (error: unknown) => void = () => {}
  readonly #onListenerError: (error: unknown) => void
  #abandon: AbortController | undefined

  /** `onListenerError` receives exceptions of a progress listener. */
  constructor(id: number, request: SessionRequest, onListenerError: (error: unknown) => void) {
    this.id = id
    this.request = request
    this.#onListenerError = onListenerError
    this.result = new Promise<unknown>((resolve, reject) => {
      this.answered = resolve
      this.failed = reject
    })
  }

  /** Fires when the request was given up, to close what is still open. */
  get abandoned(): AbortSignal {
    this.#abandon ??= new AbortController()
    return this.#abandon.signal
  }

  giveUp(): void {
    this.#abandon?.abort()
  }

  streamEnded(): void {
    this.failed(
      this.isGarbled
        ? invalidMessageError()
        : connectionClosedError(undefined, "the connection ended before the answer"),
    )
  }

  progressed(update: ProgressUpdate): void {
    const { timeout, progress } = this.request
    timeout.touch()
    try {
      progress?.(update)
    } catch (error) {
      this.#onListenerError(error)
    }
  }
}

/** Why a request failed, and whether it was sent. */
export class RequestFailure extends Error {
  readonly thrown: unknown
  readonly error: CallError
  readonly request: RunningRequest

  constructor(thrown: unknown, error: CallError, request: RunningRequest) {
    super(error.message)
    this.thrown = thrown
    this.error = error
    this.request = request
  }
}

/** The `CallError` in an exception, also when the SDK has wrapped it. */
export function findCallError(thrown: unknown): CallError | undefined {
  let at = thrown
  for (let hops = 0; hops < 5 && typeof at === "object" && at !== null; hops++) {
    if (isCallError(at)) return at
    const { cause, data } = at as { readonly cause?: unknown; readonly data?: unknown }
    at = cause ?? memberOf(data, "cause")
  }
  return undefined
}

/** Whether the SDK could not parse a message. */
export function isUnreadableMessage(thrown: unknown): boolean {
  return thrown instanceof Error && /^\$?ZodError$|^SyntaxError$/.test(thrown.name)
}

/** An error like the SDK's for an invalid result. */
export function invalidMessageError(why = "the response is not a valid message"): Error {
  return Object.assign(new Error(why), { code: "INVALID_RESULT" })
}

/** An error like the SDK's for a closed connection. */
export function connectionClosedError(cause?: unknown, why = "Connection closed"): Error {
  return Object.assign(new Error(why, { cause }), { code: "CONNECTION_CLOSED" })
}

/** Converts an error to a JSON-RPC error. */
export function rpcError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return Object.assign(new Error(message), { code: -32603 })
}
