import { allows } from "../core/access.ts"
import type { CallOptions, Identity } from "../core/types.ts"
import { isFailedTool, type ResponseEnvelope, type ResponseMeta } from "../core/envelope.ts"
import { markSpan } from "../core/error-marks.ts"
import { isCallError, type CallError } from "../core/errors.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import { typeName } from "../internal/message-text.ts"
import type { OperationType } from "../core/types.ts"
import type { CallOutcome, CallScope } from "../core/tracing.ts"
import type { Call } from "./call.ts"
import type { OperationRecord } from "./record.ts"
import { Tracers } from "./trace.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { Listeners } from "../internal/listeners.ts"

/** The trace of a call that has started. */
export interface CallStarted {
  readonly phase: "start"
  readonly requestId: string
  /** The call that made this one. */
  readonly parentRequestId: string | undefined
  readonly operationId: string
  readonly type: OperationType
  /** Milliseconds since 1970. */
  readonly at: number
  /** The id of the caller's identity. */
  readonly identity: string | undefined
}

/** The trace of a call that has ended, with the fields of its start. */
export interface CallEnded extends Omit<CallStarted, "phase"> {
  readonly phase: "end"
  readonly durationMs: number
  /** `aborted`: the caller did not wait for the end. */
  readonly outcome: "ok" | "error" | "aborted"
  /** The error code of a failed call; `EXECUTION_ERROR` where an MCP tool reports a failure as its result. */
  readonly code: string | undefined
  /** The error of a failed call. Its message and details may be secret. */
  readonly error: CallError | undefined
  /** What became of a call about which rules of approvals do not say that it runs. */
  readonly approval?: "asked" | "approved" | "denied" | undefined
  /** The source of the result. */
  readonly source: ResponseMeta["source"] | undefined
  /** Number of items of a stream. */
  readonly items: number
}

/** What `onCall` reports. Never an input or a result: these may be secret. */
export type CallTrace = CallStarted | CallEnded

export type CallListener = (trace: CallTrace) => void

/** Receives inputs and results of calls, which `onCall` never reports. It must not throw. */
export interface CallRecorder {
  /** A call has started, with the input of its caller unless it is denied access. */
  begin(started: CallStarted, call: ObservableCall, input: unknown): CallRecording
}

/** The rest of a call that is recorded. */
export interface CallRecording {
  /** The result, or the next item of a stream. */
  add(envelope: ResponseEnvelope): void
  end(ended: CallEnded): void
}

/** The fields of a call that traces report. */
export interface ObservableCall {
  readonly requestId: string
  readonly parentRequestId: string | undefined
  readonly operationId: string
  readonly identity: Identity | undefined
  readonly options: Pick<CallOptions, "metadata"> | undefined
  readonly record: OperationRecord
  /** The same object as the one of its `MiddlewareCall`. */
  readonly key: object
  /** How the outermost call came in. */
  readonly via?: string | undefined
  /** What the rules of approvals decided, and who approved the call, once they have. */
  readonly approval?:
    | {
        readonly decide: string
        readonly rule?: string | undefined
        readonly approvedBy?: string | undefined
        readonly approvedAt?: number | undefined
      }
    | undefined
}

/** The end of a call, as tracers and listeners receive it. */
type Outcome = Pick<CallEnded, "outcome"> &
  Partial<Pick<CallEnded, "code" | "error">> &
  Pick<CallOutcome, "envelope">

/** Notifies listeners and tracers of calls. It exists only while there are some, so that it costs nothing otherwise. */
export class CallObserver {
  readonly #listeners = new Listeners<CallTrace>()
  readonly #clock: Clock
  readonly #logger: Logger
  readonly tracers: Tracers
  /** What records calls. */
  readonly recorders: Set<CallRecorder> = new Set()

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
    this.tracers = new Tracers(logger)
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0 && this.recorders.size === 0 && this.tracers.size === 0
  }

  /** Adds a listener; returns a function that removes it. */
  add(listener: CallListener): () => void {
    if (typeof listener !== "function") {
      throw new TypeError(`onCall(listener): must be a function, got ${typeName(listener)}.`)
    }
    return this.#listeners.add(listener)
  }

  begin(call: Call, input: unknown, trusted: boolean): ObservedCall {
    const scope = this.tracers.size === 0 ? undefined : this.tracers.begin(call, input)
    if (scope !== undefined) call.scope = scope
    if (this.#listeners.size === 0 && this.recorders.size === 0) {
      return new ObservedCall(this, undefined, [], scope, call)
    }
    const { requestId, parentRequestId, operationId, record, identity } = call
    const id: unknown = identity?.id
    const started: CallStarted = {
      phase: "start",
      requestId,
      parentRequestId,
      operationId,
      type: record.spec.type,
      at: wallTimeOf(this.#clock),
      identity: typeof id === "string" ? id : undefined,
    }
    this.notify(started)
    if (this.recorders.size === 0) return new ObservedCall(this, started, [], scope, call)
    const isAllowed =
      trusted || parentRequestId !== undefined || allows(record.requirement, identity, input)
    const recordings = Array.from(this.recorders, (recorder) =>
      recorder.begin(started, call, isAllowed ? input : undefined),
    )
    return new ObservedCall(this, started, recordings, scope, call)
  }

  now(): number {
    return this.#clock.now()
  }

  notify(trace: CallTrace): void {
    this.#listeners.notifyLogged(trace, this.#logger, "A listener of onCall threw")
  }
}

/** A call whose end is reported, once. */
export class ObservedCall {
  readonly #observer: CallObserver
  /** Set if there were listeners when the call started. */
  readonly #started: CallStarted | undefined
  /** A time of the clock, while `at` is a date. */
  readonly #startedAt: number
  readonly #recordings: readonly CallRecording[]
  readonly #scope: CallScope | undefined
  readonly #call: Pick<ObservableCall, "approval">
  #source: ResponseMeta["source"] | undefined
  #items = 0
  #isOver = false

  constructor(
    observer: CallObserver,
    started: CallStarted | undefined,
    recordings: readonly CallRecording[],
    scope: CallScope | undefined,
    call: Pick<ObservableCall, "approval">,
  ) {
    this.#call = call
    this.#observer = observer
    this.#started = started
    this.#recordings = recordings
    this.#scope = scope
    this.#startedAt = started === undefined ? 0 : observer.now()
  }

  /** Runs a part of the call in the scopes of the tracers. */
  run<T>(work: () => T): T {
    return this.#scope === undefined ? work() : this.#scope.run(work)
  }

  /** Reports the outcome of a call, and returns it unchanged. */
  follow(outcome: Promise<ResponseEnvelope>): Promise<ResponseEnvelope> {
    return outcome.then(
      (envelope) => {
        this.#source = envelope.meta.source
        for (const recording of this.#recordings) recording.add(envelope)
        // Its caller receives the envelope; listeners see a failure.
        const isFailed = isFailedTool(envelope.meta)
        if (isFailed) this.#end({ outcome: "error", code: "EXECUTION_ERROR", envelope })
        else this.#end({ outcome: "ok", envelope })
        return envelope
      },
      (error: unknown) => {
        this.fail(error)
        throw error
      },
    )
  }

  /** Counts the next item of a stream, and returns it unchanged. */
  async next<TResult extends IteratorResult<ResponseEnvelope, unknown>>(
    outcome: Promise<TResult>,
  ): Promise<TResult> {
    try {
      const result = await outcome
      if (result.done === true) this.#end({ outcome: "ok" })
      else {
        this.#items++
        this.#scope?.item?.()
        this.#source = result.value.meta.source
        for (const recording of this.#recordings) recording.add(result.value)
      }
      return result
    } catch (error) {
      this.fail(error)
      throw error
    }
  }

  fail(error: unknown): void {
    if (!isCallError(error)) return this.#end({ outcome: "error" })
    const { code } = error
    const fields = this.#scope?.fields?.()
    if (fields !== undefined) markSpan(error, fields)
    this.#end({ outcome: code === "ABORTED" ? "aborted" : "error", code, error })
  }

  /** The caller left. */
  leave(): void {
    this.#end({ outcome: "aborted", code: "ABORTED" })
  }

  #end({ outcome, code, error, envelope }: Outcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#scope?.end({ outcome, error, envelope, items: this.#items })
    if (this.#started === undefined) return
    const { requestId, parentRequestId, operationId, type, at, identity } = this.#started
    // Written out: a spread with another `phase` costs several times the rest.
    const ended: CallEnded = {
      phase: "end",
      requestId,
      parentRequestId,
      operationId,
      type,
      at,
      identity,
      durationMs: this.#observer.now() - this.#startedAt,
      outcome,
      code,
      error,
      approval: approvalOf(this.#call.approval, code),
      source: this.#source,
      items: this.#items,
    }
    for (const recording of this.#recordings) recording.end(ended)
    this.#observer.notify(ended)
  }
}

function approvalOf(
  approval: ObservableCall["approval"],
  code: string | undefined,
): CallEnded["approval"] {
  if (approval?.decide === "deny") return "denied"
  if (approval?.approvedAt !== undefined) return "approved"
  // Nested calls are not asked about: the approval of the outer one includes them.
  return code === "APPROVAL_REQUIRED" || code === "DECLINED" ? "asked" : undefined
}
