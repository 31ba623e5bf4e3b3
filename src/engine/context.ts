import { createEnv } from "./env-proxy.ts"
import { checkedAnswer, inputUnavailable } from "../core/input-requests.ts"
import { answererFor } from "./question.ts"
import type { CallingClient, FromClient } from "../core/calling-client.ts"
import { toWallTime } from "../internal/clock.ts"
import { frozenCopy } from "../internal/frozen.ts"
import { setTokenLookup } from "../internal/signals.ts"
import type { NestedCallOptions } from "../core/infer.ts"
import type { Logger } from "../internal/logger.ts"
import type { CallTracing } from "../core/tracing.ts"
import { tracedLog, tracingOf } from "./trace.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { ResponseHost } from "../core/http-response.ts"
import type { OuterCall } from "../core/outer-call.ts"
import type { CallOptions, CallPolicy, Identity, ProgressUpdate } from "../core/types.ts"
import type { OperationContext } from "../core/handler.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { Call } from "./call.ts"
import type { Revalidation } from "../core/middleware.ts"
import { notify } from "../internal/notify.ts"

/**
 * The context that handlers get. Its members cannot be assigned, and only the registry creates one:
 * a copy or an imitation has none of its rights.
 */
export class CallContext implements OperationContext {
  readonly #invocation: Call

  constructor(invocation: Call) {
    this.#invocation = invocation
  }

  /** The call of a genuine context; `undefined` for anything else. */
  static callOf(value: object): Call | undefined {
    return #invocation in value ? value.#invocation : undefined
  }

  static {
    setTokenLookup((context) => CallContext.callOf(context)?.token)
  }

  get requestId(): string {
    return this.#invocation.requestId
  }

  get parentRequestId(): string | undefined {
    return this.#invocation.parentRequestId
  }

  /** A frozen copy: otherwise a handler could grant itself more rights for nested calls. */
  get identity(): Identity | undefined {
    const invocation = this.#invocation
    return invocation.cached("identity", () => frozenIdentity(invocation.identity))
  }

  get deadline(): number | undefined {
    const deadline = this.#invocation.due()
    // Converted to a date at each read: handlers compare it with other dates.
    return deadline === Number.POSITIVE_INFINITY
      ? undefined
      : toWallTime(this.#invocation.kernel.clock, deadline)
  }

  get signal(): AbortSignal {
    return this.#invocation.signal
  }

  get metadata(): Readonly<Record<string, unknown>> | undefined {
    return this.#invocation.options?.metadata
  }

  get attempt(): number {
    return this.#invocation.attempt
  }

  get idempotencyKey(): string | undefined {
    return this.#invocation.options?.idempotencyKey
  }

  get policy(): CallPolicy | undefined {
    return this.#invocation.options?.policy
  }

  get revalidate(): Revalidation | undefined {
    return this.#invocation.revalidate
  }

  get env(): OperationContext["env"] {
    const invocation = this.#invocation
    return invocation.cached("env", () => createEnv(invocation.kernel, this.call))
  }

  get log(): Logger {
    const { options, kernel, root } = this.#invocation
    const log = options?.log ?? root.options?.log ?? kernel.logger
    return tracedLog(this.#invocation, log)
  }

  // Getters, so that `const { call } = context` works; the functions are created when they are read.
  get call(): OperationContext["call"] {
    const call = (
      id: string,
      input?: unknown,
      options?: NestedCallOptions,
    ): Promise<ResponseEnvelope> =>
      this.#invocation.kernel.call(id, input, options, this.#invocation, false)
    return call as OperationContext["call"]
  }

  get subscribe(): OperationContext["subscribe"] {
    const open = (id: string, input?: unknown, options?: NestedCallOptions): EnvelopeStream =>
      this.#invocation.kernel.stream(id, input, options, this.#invocation, false)
    return open as OperationContext["subscribe"]
  }

  get progress(): OperationContext["progress"] {
    return (value) => this.#report(value)
  }

  /** For `answererOf`. */
  get answerer(): CallOptions["requestInput"] {
    return answererFor(this.#invocation)
  }

  /** For calls that are passed on to MCP servers. */
  get client(): CallingClient | undefined {
    return (this.#invocation.root.options as FromClient | undefined)?.client
  }

  /** For calls in other registries. */
  get outer(): OuterCall {
    return this.#invocation.asOuter
  }

  /** For requests that leave. */
  get tracing(): CallTracing {
    return tracingOf(this.#invocation)
  }

  /** For `httpResponse`. */
  get httpResponse(): ResponseHost | undefined {
    return this.#invocation.answering
  }

  get requestInput(): OperationContext["requestInput"] {
    const { operationId } = this.#invocation
    const answerer = answererFor(this.#invocation, (request, response) =>
      checkedAnswer(request, response, `"${operationId}"`),
    )
    return answerer ?? (() => Promise.reject(inputUnavailable(operationId)))
  }

  #report(value: ProgressUpdate): void {
    if (typeof value !== "object" || value === null || !Number.isFinite(value.progress)) {
      throw new TypeError(
        "context.progress(value): value must be an object with a finite number, such as { progress: 3, total: 10 }.",
      )
    }
    const { options, ended, kernel, record } = this.#invocation
    if (ended !== undefined) return
    const about = { operationId: record.id }
    notify(kernel.logger, "A progress listener threw", () => options?.progress?.(value), about)
  }
}

function frozenIdentity(identity: Identity | undefined): Identity | undefined {
  if (typeof identity !== "object" || identity === null) return undefined
  return frozenCopy(identity) as Identity
}
