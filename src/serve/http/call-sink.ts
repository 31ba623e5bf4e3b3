import { CallSink } from "../../engine/sink.ts"
import { isCallError, type CallError } from "../../core/errors.ts"
import { defer } from "../../internal/defer.ts"
import { mapError } from "../../core/map-error.ts"
import { closing } from "../../protocol/refusals.ts"
import { executeInto, type ServedRegistry } from "../../engine/served-registry.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { NestedInOuter, OuterCall } from "../../core/outer-call.ts"
import type { CallOptions, CallPolicy, Identity } from "../../core/types.ts"
import type { HTTPIncoming } from "../exchange.ts"

/** Call options from the headers of a request. */
export interface RequestTerms
  extends Pick<CallOptions, "timeout" | "metadata" | "policy" | "idempotencyKey">, NestedInOuter {}

/** What a call of a batch sets for itself; its timeout counts if it is shorter than that of the request. */
export interface ItemTerms
  extends RequestTerms, Pick<CallOptions, "parentRequestId" | "progress"> {}

type CallOrigin = Pick<HTTPIncoming, "requestId" | "onGone">

/**
 * The call of an HTTP request: its options, its abort signal and its promise in one object.
 *
 * It is in `running` if it takes longer than a turn, and is cancelled when its client disconnects.
 */
export class HTTPCall extends CallSink implements CallOptions, NestedInOuter {
  // The headers have been validated, and the id is created on first use.
  override readonly isValidated: boolean = true
  readonly identity: Identity | undefined
  readonly timeout: number | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly policy: CallPolicy | undefined
  readonly idempotencyKey: string | undefined
  readonly outer: OuterCall | undefined
  readonly parentRequestId: string | undefined
  readonly progress: ItemTerms["progress"] | undefined
  readonly #operationId: string
  readonly #incoming: CallOrigin
  readonly #running: Set<HTTPCall>
  #isOver = false
  #stopListening: (() => void) | undefined
  #resolve: ((envelope: ResponseEnvelope) => void) | undefined
  #reject: ((error: CallError) => void) | undefined

  constructor(
    operationId: string,
    incoming: CallOrigin,
    identity: Identity | undefined,
    terms: RequestTerms,
    running: Set<HTTPCall>,
    own?: ItemTerms,
  ) {
    super()
    this.#operationId = operationId
    this.#incoming = incoming
    this.#running = running
    this.identity = identity
    this.timeout = shorter(own?.timeout, terms.timeout)
    this.metadata = own?.metadata ? { ...own.metadata, ...terms.metadata } : terms.metadata
    this.policy = own?.policy ?? terms.policy
    this.idempotencyKey = own?.idempotencyKey ?? terms.idempotencyKey
    this.outer = own?.outer ?? terms.outer
    this.parentRequestId = own?.parentRequestId
    this.progress = own?.progress
  }

  get requestId(): string {
    return this.#incoming.requestId
  }

  override get hasPlainInput(): boolean {
    return true
  }

  run(registry: ServedRegistry, input: unknown): Promise<ResponseEnvelope> {
    watchSoon(this)
    const outcome = new Promise<ResponseEnvelope>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    executeInto(registry, this.#operationId, input, this)
    return outcome
  }

  /** Ends the call because its server is closed. */
  end(): void {
    this.fail(closing(this.#operationId, true))
    this.cancel("The server was closed.")
  }

  /** Adds the call to `running`, and cancels it when its client disconnects. */
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

/** The shorter of two timeouts, if there are any. */
export function shorter(
  asked: number | undefined,
  longest: number | undefined,
): number | undefined {
  return asked === undefined || longest === undefined
    ? (asked ?? longest)
    : Math.min(asked, longest)
}

let unwatched: HTTPCall[] = []

/**
 * Watches a call's client after the current turn: most calls have finished by then, and no client can
 * disconnect unnoticed before.
 */
function watchSoon(call: HTTPCall): void {
  if (unwatched.push(call) === 1) defer(watchAll)
}

/** Watches the clients of all new calls now. */
export function watchAll(): void {
  const calls = unwatched
  unwatched = []
  for (const call of calls) call.watch()
}
