import { createEnv } from "./env-proxy.ts"
import { CallError } from "../core/errors.ts"
import { toWallTime } from "../internal/clock.ts"
import { frozenCopy } from "../internal/frozen.ts"
import { findTokensWith } from "../internal/signals.ts"
import type { NestedCallOptions } from "../core/infer.ts"
import type { Logger } from "../internal/logger.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Identity, ProgressUpdate } from "../core/types.ts"
import type { OperationContext } from "../core/handler.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { Call } from "./call.ts"
import { notify } from "../internal/notify.ts"

/**
 * The context that handlers get. What it says cannot be assigned, and only the registry makes one:
 * a copy or an imitation is just an object with the same words in it.
 */
export class CallContext implements OperationContext {
  readonly #invocation: Call

  constructor(invocation: Call) {
    this.#invocation = invocation
  }

  /** The invocation behind a genuine context; `undefined` for anything else. */
  static behind(value: object): Call | undefined {
    return #invocation in value ? value.#invocation : undefined
  }

  static {
    findTokensWith((context) => CallContext.behind(context)?.token)
  }

  get requestId(): string {
    return this.#invocation.requestId
  }

  get parentRequestId(): string | undefined {
    return this.#invocation.parentRequestId
  }

  /** A frozen copy: a handler that could change it could lend itself rights for nested calls. */
  get identity(): Identity | undefined {
    const invocation = this.#invocation
    return invocation.cached("identity", () => frozenIdentity(invocation.identity))
  }

  get deadline(): number | undefined {
    const deadline = this.#invocation.due()
    // As a date whenever it is read: handlers compare it with other dates.
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

  get env(): OperationContext["env"] {
    const invocation = this.#invocation
    return invocation.cached("env", () => createEnv(invocation.kernel, this.call))
  }

  get log(): Logger {
    const { options, kernel, root } = this.#invocation
    return options?.log ?? root.options?.log ?? kernel.logger
  }

  // Getters, so that `const { call } = context` works; the functions are made when asked for.
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

  get requestInput(): OperationContext["requestInput"] {
    const { options, root } = this.#invocation
    const ask = options?.requestInput ?? root.options?.requestInput
    return async (request) => {
      if (ask === undefined) throw noOneToAsk(this.#invocation.record.id)
      return await ask(request)
    }
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

function noOneToAsk(operationId: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `"${operationId}" has a question for its caller, and this caller cannot be asked. Call it with requestInput in the options, or from a client that can answer.`,
    { operationId, retryable: false, details: { reason: "INPUT_UNAVAILABLE" } },
  )
}

function frozenIdentity(identity: Identity | undefined): Identity | undefined {
  if (typeof identity !== "object" || identity === null) return undefined
  return frozenCopy(identity) as Identity
}
