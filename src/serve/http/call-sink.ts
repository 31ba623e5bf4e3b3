import { CallSink } from "../../engine/sink.ts"
import { isCallError } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import { defer } from "../../internal/defer.ts"
import { mapError } from "../../core/map-error.ts"
import type { AnyRegistry, OperationRegistry } from "../../engine/registry.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { CallOptions, Identity } from "../../core/types.ts"
import type { HTTPIncoming } from "../exchange.ts"

/** What the headers of a request say about the call that it asks for. */
export interface RequestTerms {
  readonly timeout: number | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/**
 * A call for an HTTP request: its options, what ends it, and who waits for it, in one object.
 *
 * It is among `running` if it takes longer than a turn, and ends when its client leaves.
 */
export class HTTPCall extends CallSink implements CallOptions {
  // The headers were looked at, and the id is made when somebody asks for it.
  override readonly isValidated: boolean = true
  readonly identity: Identity | undefined
  readonly timeout: number | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly #operationId: string
  readonly #incoming: HTTPIncoming
  readonly #running: Set<HTTPCall>
  #isOver = false
  #stopListening: (() => void) | undefined
  #resolve: ((envelope: ResponseEnvelope) => void) | undefined
  #reject: ((error: CallError) => void) | undefined

  constructor(
    operationId: string,
    incoming: HTTPIncoming,
    identity: Identity | undefined,
    terms: RequestTerms,
    running: Set<HTTPCall>,
  ) {
    super()
    this.#operationId = operationId
    this.#incoming = incoming
    this.#running = running
    this.identity = identity
    this.timeout = terms.timeout
    this.metadata = terms.metadata
  }

  get requestId(): string {
    return this.#incoming.requestId
  }

  override get hasPlainInput(): boolean {
    return true
  }

  run(registry: AnyRegistry, input: unknown): Promise<ResponseEnvelope> {
    const own = registry as Partial<Pick<OperationRegistry, "executeInto">>
    watchSoon(this)
    if (own.executeInto === undefined) {
      return registry.execute(this.#operationId, input, this).finally(() => this.#over())
    }
    const outcome = new Promise<ResponseEnvelope>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    own.executeInto(this.#operationId, input, this)
    return outcome
  }

  /** Is among those that run and ends with its client, from now on. */
  watch(): void {
    if (this.#isOver) return
    this.#running.add(this)
    this.#stopListening = this.#incoming.onGone(() => this.cancel("The client left."))
  }

  succeed(envelope: ResponseEnvelope): void {
    this.#over()
    this.#resolve?.(envelope)
  }

  fail(thrown: unknown): void {
    this.#over()
    if (isCallError(thrown)) this.#reject?.(thrown)
    else {
      const { requestId } = this
      const operationId = this.#operationId
      this.#reject?.(mapError(thrown, undefined, { operationId, requestId }))
    }
  }

  #over(): void {
    this.#isOver = true
    if (this.#stopListening === undefined) return
    this.#stopListening()
    this.#running.delete(this)
  }
}

let unwatched: HTTPCall[] = []

/**
 * Watches a call's client when what runs now is over: most calls are over by then, and no client can leave
 * unnoticed before.
 */
function watchSoon(call: HTTPCall): void {
  if (unwatched.push(call) === 1) defer(watchAll)
}

/** Does so now. */
export function watchAll(): void {
  const calls = unwatched
  unwatched = []
  for (const call of calls) call.watch()
}
