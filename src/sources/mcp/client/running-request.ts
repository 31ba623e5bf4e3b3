import type { MCPErrorAbout } from "../../../mcp/errors.ts"
import type { ProgressUpdate } from "../../../core/types.ts"
import { connectionClosedError, invalidMessageError } from "./failure.ts"
import type { Exchange } from "./framed-transport.ts"
import type { RequestInput } from "./input.ts"
import type { RequestCaller } from "./model.ts"
import type { RequestTimeout } from "./request-timeout.ts"

/** A request that is part of a call. */
export interface SessionRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly phase: MCPErrorAbout["phase"]
  /** The tool, resource or prompt. */
  readonly tool?: string | undefined
  /** The definition of a tool. */
  readonly definition?: unknown
  readonly timeout: RequestTimeout
  readonly progress?: ((update: ProgressUpdate) => void) | undefined
  readonly requestInput?: RequestInput | undefined
  readonly caller?: RequestCaller | undefined
}

/** A pending request. */
export class RunningRequest implements Exchange {
  readonly token: number
  readonly request: SessionRequest
  readonly result: Promise<unknown>
  readonly method: string
  isSent = false
  isGivenUp = false
  retryAfterMs: number | undefined = undefined
  readonly #onListenerError: (error: unknown) => void
  #resolve: ((result: unknown) => void) | undefined
  #reject: ((error: unknown) => void) | undefined
  #abandon: AbortController | undefined
  #isGarbled = false

  /** `onListenerError` receives exceptions of a progress listener. */
  constructor(token: number, request: SessionRequest, onListenerError: (error: unknown) => void) {
    this.token = token
    this.request = request
    this.method = request.method
    this.#onListenerError = onListenerError
    this.result = new Promise<unknown>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  get caller(): RequestCaller | undefined {
    return this.request.caller
  }

  get abandoned(): AbortSignal {
    this.#abandon ??= new AbortController()
    return this.#abandon.signal
  }

  /** The caller no longer waits: closes what is still open for the request. */
  giveUp(): void {
    this.isGivenUp = true
    this.#abandon?.abort()
  }

  answered(result: unknown): void {
    this.#resolve?.(result)
  }

  failed(error: unknown): void {
    this.#reject?.(error)
  }

  /** An unreadable message arrived, which may have been the response. */
  garbled(): void {
    this.#isGarbled = true
  }

  streamEnded(): void {
    this.failed(
      this.#isGarbled
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
