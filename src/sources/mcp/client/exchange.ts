import type { MCPErrorAbout } from "../../../mcp/errors.ts"
import type { ProgressUpdate } from "../../../core/types.ts"
import { closed, garbage } from "./failure.ts"
import type { Exchange } from "./frames.ts"
import type { RequestInput } from "./input.ts"
import type { RequestCaller } from "./model.ts"
import type { Patience } from "./patience.ts"

/** A request that is part of a call. */
export interface SessionRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly phase: MCPErrorAbout["phase"]
  /** The tool, resource or prompt. */
  readonly tool?: string | undefined
  /** Of a tool: what its parameters are. */
  readonly definition?: unknown
  readonly patience: Patience
  readonly progress?: ((update: ProgressUpdate) => void) | undefined
  readonly requestInput?: RequestInput | undefined
  readonly caller?: RequestCaller | undefined
}

/** A request that is under way, until its result or its error. */
export class RunningRequest implements Exchange {
  readonly token: number
  readonly request: SessionRequest
  readonly result: Promise<unknown>
  readonly method: string
  isSent = false
  isGivenUp = false
  retryAfterMs: number | undefined = undefined
  readonly #complain: (error: unknown) => void
  #resolve: ((result: unknown) => void) | undefined
  #reject: ((error: unknown) => void) | undefined
  #abandon: AbortController | undefined
  #isGarbled = false

  /** `complain` is told what a listener for progress threw. */
  constructor(token: number, request: SessionRequest, complain: (error: unknown) => void) {
    this.token = token
    this.request = request
    this.method = request.method
    this.#complain = complain
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

  /** Nobody waits any more: what is still open for the request is closed. */
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

  /** Something came that is no message, maybe the answer. */
  garbled(): void {
    this.#isGarbled = true
  }

  streamEnded(): void {
    this.failed(
      this.#isGarbled ? garbage() : closed(undefined, "the connection ended before the answer"),
    )
  }

  progressed(update: ProgressUpdate): void {
    const { patience, progress } = this.request
    patience.touch()
    try {
      progress?.(update)
    } catch (error) {
      this.#complain(error)
    }
  }
}
