import { refusal } from "../errors.ts"
import type { CallError } from "../errors.ts"
import type { DeadlineEntry } from "../internal/deadlines.ts"
import { heedSignal, ignoreSignal } from "../internal/signals.ts"
import { mapError } from "../map-error.ts"
import type { CallOptions, Identity } from "../types.ts"
import { mintRequestId } from "./ids.ts"
import type { Kernel } from "./kernel.ts"
import type { OperationRecord } from "./record.ts"

/** Why a call ended before its handler did. */
export type EndReason = "TIMEOUT" | "ABORTED"

// No clock is ever there.
const UNSET = Number.NEGATIVE_INFINITY

/**
 * One running call or stream: who asked, until when, and what must stop with it.
 *
 * Handlers never see it; they get the `CallContext` in front of it. Ids, signals and controllers
 * are made when someone asks for them, and fields are set in one place: this is the hottest object
 * of the library.
 */
export abstract class Invocation implements DeadlineEntry {
  declare readonly kernel: Kernel
  declare readonly record: OperationRecord
  declare readonly parent: Invocation | undefined
  /** The outermost call; counts the calls nested under it. */
  declare readonly root: Invocation
  declare readonly depth: number
  declare readonly options: CallOptions | undefined
  /** What the caller said, unchecked and never handed out: `CallContext` shows a frozen copy. */
  declare readonly identity: Identity | undefined
  /** Epoch milliseconds, `Infinity` for none; `UNSET` until someone asks `due`. */
  declare deadline: number
  declare nestedCalls: number
  /** Set when the call ended early; nothing new starts under it then. */
  declare ended: CallError | undefined

  // Links of the deadline list; `Deadlines` keeps them.
  declare bucket: DeadlineEntry["bucket"]
  declare dueBefore: DeadlineEntry | undefined
  declare dueAfter: DeadlineEntry | undefined

  /** What few calls need. */
  declare private extras: Extras | undefined

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
    this.deadline = UNSET
    this.nestedCalls = 0
    this.ended = undefined
    this.bucket = undefined
    this.dueBefore = undefined
    this.dueAfter = undefined
    this.extras = undefined
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

  /** When the call ends. Reads the clock, unless `now` is given, the first time a default has to be set. */
  due(now?: number): number {
    if (this.deadline === UNSET) this.deadline = this.defaultDeadline(now)
    return this.deadline
  }

  /** Takes over a parent's end, if that is known and earlier. */
  capDeadline(limit: Invocation): void {
    // Both undated: both are dated together, and the parent not later than this one.
    if (this.deadline === UNSET && limit.deadline === UNSET) return
    this.deadline = Math.min(this.due(), limit.due())
  }

  get requestId(): string {
    const extras = this.#extras()
    // A nested call is a call of its own: it never takes over an id.
    extras.requestId ??=
      (this.parent === undefined ? this.options?.requestId : undefined) ?? mintRequestId()
    return extras.requestId
  }

  get parentRequestId(): string | undefined {
    return this.parent === undefined ? this.options?.parentRequestId : this.parent.requestId
  }

  get operationId(): string {
    return this.record.id
  }

  get signal(): AbortSignal {
    const extras = this.#extras()
    if (extras.controller === undefined) {
      extras.controller = new AbortController()
      if (this.ended !== undefined) extras.controller.abort(this.ended)
    }
    return extras.controller.signal
  }

  /** The caller's signal fired. */
  handleEvent(): void {
    this.end("ABORTED", abortedMessage(this.record.id), this.options?.signal?.reason)
  }

  /** The deadline passed. */
  expire(): void {
    this.end(
      "TIMEOUT",
      `No response to "${this.record.id}" before its deadline (request ${this.requestId}).`,
    )
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

  /** The error for whatever a handler threw. */
  fail(thrown: unknown): CallError {
    return mapError(thrown, this.record.spec.errorSchemas, this)
  }

  /** Starts what ends the call from outside: the deadline, the caller's signal, the parent. */
  protected watch(): void {
    if (this.deadline === UNSET && this.kernel.hasTimeout && !this.record.isStream) {
      this.kernel.deadlines.addUndated(this)
    } else if (this.due() === Number.POSITIVE_INFINITY) {
      this.#extras().untrack = this.kernel.track(this)
    } else {
      this.kernel.deadlines.add(this)
    }
    const { parent, options } = this
    if (parent !== undefined) parent.#adopt(this)
    const signal = options?.signal
    if (signal !== undefined) {
      this.#extras().listening = signal
      heedSignal(signal, this)
    }
  }

  protected unwatch(): void {
    if (this.bucket !== undefined) this.kernel.deadlines.remove(this)
    const { parent, extras } = this
    if (parent !== undefined) parent.extras?.children?.delete(this)
    if (extras === undefined) return
    extras.untrack?.()
    extras.untrack = undefined
    if (extras.listening === undefined) return
    ignoreSignal(extras.listening, this)
    extras.listening = undefined
  }

  /** Tells the handler and the children of a call that nobody waits any more. */
  protected stopWork(reason: EndReason, message: string): void {
    const { extras } = this
    if (extras === undefined) return
    const { children, controller } = extras
    extras.children = undefined
    if (children !== undefined) for (const child of children) child.end(reason, message)
    controller?.abort(this.ended)
  }

  protected abstract settleEnded(error: CallError): void

  /** When a call ends of which nobody said it. */
  protected abstract defaultDeadline(now?: number): number

  #adopt(child: Invocation): void {
    const extras = this.#extras()
    extras.children ??= new Set()
    extras.children.add(child)
  }

  #extras(): Extras {
    return (this.extras ??= {
      requestId: undefined,
      controller: undefined,
      children: undefined,
      listening: undefined,
      untrack: undefined,
    })
  }

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

interface Extras {
  requestId: string | undefined
  controller: AbortController | undefined
  children: Set<Invocation> | undefined
  listening: AbortSignal | undefined
  untrack: (() => void) | undefined
}

/** A call of a query or mutation whose result is not there yet. */
export class Call extends Invocation {
  declare private resolve: ((envelope: unknown) => void) | undefined
  declare private reject: ((error: unknown) => void) | undefined

  /** Waits for a handler's promise, for as long as the call lasts. */
  wait(promise: Promise<unknown>): Promise<never> {
    const outcome = new Promise(capture)
    this.resolve = capturedResolve
    this.reject = capturedReject
    this.watch()
    promise.then(
      (result) => {
        if (this.ended === undefined) this.#finish(result)
      },
      (thrown: unknown) => {
        if (this.ended === undefined) this.#fail(thrown)
      },
    )
    return outcome as Promise<never>
  }

  protected override defaultDeadline(now?: number): number {
    return this.kernel.defaultDeadline(now)
  }

  protected override settleEnded(error: CallError): void {
    this.reject?.(error)
  }

  #finish(result: unknown): void {
    let envelope: unknown
    try {
      envelope = this.kernel.process(this.record, result)
    } catch (thrown) {
      this.#fail(thrown)
      return
    }
    this.unwatch()
    this.resolve?.(envelope)
  }

  #fail(thrown: unknown): void {
    this.unwatch()
    this.reject?.(this.fail(thrown))
  }
}

/** What a caller reads when it went away itself. */
export function abortedMessage(operationId: string): string {
  return `The call of "${operationId}" was aborted.`
}

// One executor for all promises, read at once: a closure for each would be one more object a call.
let capturedResolve: (value: unknown) => void
let capturedReject: (error: unknown) => void
function capture(resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  capturedResolve = resolve
  capturedReject = reject
}
