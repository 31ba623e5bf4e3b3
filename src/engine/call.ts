import { CallError, refusal } from "../errors.ts"
import type { DeadlineEntry } from "../internal/deadlines.ts"
import { mapError } from "../map-error.ts"
import type { CallOptions, Identity } from "../types.ts"
import { CallContext } from "./context.ts"
import { mintRequestId } from "./ids.ts"
import type { Kernel } from "./kernel.ts"
import type { OperationRecord } from "./record.ts"

/** Why a call ended before its handler did. */
export type EndReason = "TIMEOUT" | "ABORTED"

/**
 * One running call or stream: who asked, until when, and what must stop with it.
 *
 * Handlers never see it; they get the `CallContext` in front of it. Ids, signals and controllers
 * are made when someone asks for them.
 */
export abstract class Invocation implements DeadlineEntry {
  readonly kernel: Kernel
  readonly record: OperationRecord
  readonly parent: Invocation | undefined
  /** The outermost call; counts the calls nested under it. */
  readonly root: Invocation
  readonly depth: number
  readonly options: CallOptions | undefined
  /** What the caller said, unchecked and never handed out: `CallContext` shows a frozen copy. */
  readonly identity: Identity | undefined
  /** Epoch milliseconds, `Infinity` for none; negative infinity until someone asks `due`. */
  deadline: number = UNSET
  nestedCalls = 0
  /** Set when the call ended early; nothing new starts under it then. */
  ended: CallError | undefined

  // Links of the deadline list; `Deadlines` keeps them.
  bucket: DeadlineEntry["bucket"]
  dueBefore: DeadlineEntry | undefined
  dueAfter: DeadlineEntry | undefined

  #requestId: string | undefined
  #controller: AbortController | undefined
  #children: Set<Invocation> | undefined
  #listening: AbortSignal | undefined
  #untrack: (() => void) | undefined

  constructor(
    kernel: Kernel,
    record: OperationRecord,
    parent: Invocation | undefined,
    options: CallOptions | undefined,
  ) {
    this.kernel = kernel
    this.record = record
    this.parent = parent
    this.options = options
    this.bucket = undefined
    this.dueBefore = undefined
    this.dueAfter = undefined
    this.ended = undefined
    if (parent === undefined) {
      this.root = this
      this.depth = 1
      this.identity = options?.identity
    } else {
      this.root = parent.root
      this.depth = parent.depth + 1
      this.identity = parent.identity
    }
  }

  /** When the call ends. Reads the clock once, the first time a default has to be set. */
  due(): number {
    if (this.deadline === UNSET) this.deadline = this.defaultDeadline()
    return this.deadline
  }

  get requestId(): string {
    // A nested call is a call of its own: it never takes over an id.
    return (this.#requestId ??=
      (this.parent === undefined ? this.options?.requestId : undefined) ?? mintRequestId())
  }

  get parentRequestId(): string | undefined {
    return this.parent === undefined ? this.options?.parentRequestId : this.parent.requestId
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.ended !== undefined) this.#controller.abort(this.ended)
    }
    return this.#controller.signal
  }

  /** Starts what ends the call from outside: the deadline, the caller's signal, the parent. */
  protected watch(): void {
    if (this.due() === Number.POSITIVE_INFINITY) this.#untrack = this.kernel.track(this)
    else this.kernel.deadlines.add(this)
    this.parent?.adopt(this)
    const signal = this.options?.signal
    if (signal !== undefined) {
      this.#listening = signal
      signal.addEventListener("abort", this)
    }
  }

  protected unwatch(): void {
    if (this.bucket !== undefined) this.kernel.deadlines.remove(this)
    this.#untrack?.()
    this.#untrack = undefined
    this.parent?.release(this)
    if (this.#listening !== undefined) {
      this.#listening.removeEventListener("abort", this)
      this.#listening = undefined
    }
  }

  /** The caller's signal fired. */
  handleEvent(): void {
    this.end("ABORTED", abortedMessage(this.record.id), this.options?.signal?.reason)
  }

  /** The deadline passed. */
  expire(): void {
    this.end("TIMEOUT", timeoutMessage(this))
  }

  /** Ends the call before its handler does, and everything that runs under it. */
  end(reason: EndReason, message: string, cause?: unknown): void {
    if (this.ended !== undefined) return
    this.ended = this.#endError(reason, message, cause, true)
    this.unwatch()
    this.settleEnded(this.ended)
    this.stopWork(reason, message)
  }

  /** The error of a call that ends before its handler was called. */
  refuse(reason: EndReason, message: string, cause?: unknown): CallError {
    this.ended = this.#endError(reason, message, cause, false)
    return this.ended
  }

  /** Tells the handler and the children of a call that nobody waits any more. */
  protected stopWork(reason: EndReason, message: string): void {
    const children = this.#children
    this.#children = undefined
    if (children !== undefined) for (const child of children) child.end(reason, message)
    try {
      this.#controller?.abort(this.ended)
    } catch (error) {
      // Listeners of an EventTarget do not throw into `abort`; a replaced one may.
      this.kernel.logger.error("An abort listener threw", { operationId: this.record.id, error })
    }
  }

  /** The error for whatever a handler threw. */
  fail(thrown: unknown): CallError {
    return mapError(thrown, this.record.spec.errorSchemas, this)
  }

  get operationId(): string {
    return this.record.id
  }

  adopt(child: Invocation): void {
    this.#children ??= new Set()
    this.#children.add(child)
  }

  release(child: Invocation): void {
    this.#children?.delete(child)
  }

  protected abstract settleEnded(error: CallError): void

  /** When a call ends of which nobody said it. */
  protected abstract defaultDeadline(): number

  #endError(reason: EndReason, message: string, cause: unknown, started: boolean): CallError {
    return refusal(reason, message, {
      operationId: this.record.id,
      requestId: this.requestId,
      mayHaveExecuted: started,
      retryable: reason === "TIMEOUT" && (!started || this.record.isIdempotent),
      ...(reason === "TIMEOUT" && { details: { deadline: this.deadline } }),
      ...(cause !== undefined && { cause }),
    })
  }
}

// No clock is ever there.
const UNSET = Number.NEGATIVE_INFINITY

/** A call of a query or mutation whose result is not there yet. */
export class Call extends Invocation {
  #resolve: ((envelope: unknown) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  /** The context its handler gets. */
  context(): CallContext {
    return new CallContext(this)
  }

  /** Waits for a handler's promise, for as long as the call lasts. */
  wait(promise: Promise<unknown>): Promise<never> {
    const outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.watch()
    promise.then(
      (result) => {
        if (this.ended === undefined) this.#finish(result)
      },
      (thrown: unknown) => {
        if (this.ended === undefined) this.#settle(undefined, this.fail(thrown))
      },
    )
    return outcome as Promise<never>
  }

  protected override defaultDeadline(): number {
    return this.kernel.defaultDeadline()
  }

  protected override settleEnded(error: CallError): void {
    this.#reject?.(error)
    this.#resolve = undefined
    this.#reject = undefined
  }

  #finish(result: unknown): void {
    let envelope: unknown
    try {
      envelope = this.kernel.process(this.record, result)
    } catch (thrown) {
      this.#settle(undefined, this.fail(thrown))
      return
    }
    this.#settle(envelope, undefined)
  }

  #settle(envelope: unknown, error: CallError | undefined): void {
    this.unwatch()
    if (error === undefined) this.#resolve?.(envelope)
    else this.#reject?.(error)
    this.#resolve = undefined
    this.#reject = undefined
  }
}

/** What a caller reads when it went away itself. */
export function abortedMessage(operationId: string): string {
  return `The call of "${operationId}" was aborted.`
}

function timeoutMessage(call: Invocation): string {
  return `No response to "${call.record.id}" before its deadline (request ${call.requestId}).`
}
