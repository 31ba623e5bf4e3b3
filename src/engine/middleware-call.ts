import type { MiddlewareCall } from "../core/middleware.ts"
import type { CallApproval } from "../core/approvals.ts"
import type { FromEntry, TraceAttributes } from "../core/tracing.ts"
import type { CallWay, OperationSpec } from "../core/types.ts"
import type { AttemptLog } from "./attempt-log.ts"
import type { Call } from "./call.ts"
import { CallContext } from "./context.ts"

/**
 * A call as middleware sees it.
 *
 * It is a genuine context, too: middleware that passes it as the options of another call makes a nested one.
 */
export class CallView extends CallContext implements MiddlewareCall {
  readonly #call: Call
  readonly #attempts: AttemptLog
  readonly input: unknown

  constructor(call: Call, input: unknown, attempts: AttemptLog) {
    super(call)
    this.#call = call
    this.#attempts = attempts
    this.input = input
  }

  get operationId(): string {
    return this.#call.record.id
  }

  get spec(): OperationSpec {
    return this.#call.record.spec
  }

  get isIdempotent(): boolean {
    return this.#call.isIdempotent
  }

  get remainingMs(): number {
    const { kernel } = this.#call
    return this.#call.due() - kernel.clock.now()
  }

  /** For policies: whether its caller may allow less time than the operation does. */
  get isTimed(): boolean {
    const { options, parent } = this.#call
    return (options?.timeout ?? options?.deadline ?? parent) !== undefined
  }

  get via(): CallWay {
    return this.#call.via
  }

  get program(): "console" | undefined {
    return (this.#call.root.options as FromEntry | undefined)?.entry?.program
  }

  get isNested(): boolean {
    return this.#call.caller !== undefined && this.#call.options?.via !== "code"
  }

  get trusted(): boolean {
    const { caller, record, via } = this.#call
    // The command line passes on what its user calls.
    return (
      (this.#attempts.isTrusted && via === "call") || caller?.record.composes?.(record.id) === true
    )
  }

  get approval(): CallApproval | undefined {
    return this.#call.approval
  }

  noteApproval(approval: CallApproval): void {
    this.#call.approval = approval
  }

  get key(): object {
    return this.#call.key
  }

  noteShared(): void {
    this.#attempts.hasSharedWork = true
  }

  event(name: string, attributes: TraceAttributes): void {
    this.#call.scope?.event?.(name, attributes)
  }

  isUnder(requestId: string): boolean {
    let at = this.#call.caller
    while (at !== undefined && at.requestId !== requestId) at = at.caller
    return at !== undefined
  }
}
