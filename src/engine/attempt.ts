import type { CallError } from "../core/errors.ts"
import type { Change, Revalidation } from "../core/middleware.ts"
import type { ResponseHost } from "../core/http-response.ts"
import type { OuterCall } from "../core/outer-call.ts"
import type { CallScope } from "../core/tracing.ts"
import type { CallOptions } from "../core/types.ts"
import { Call } from "./call.ts"
import type { AttemptLog } from "./attempt-log.ts"

/**
 * A part of a call with its own signal, and an earlier deadline or another input: what `next(change)` runs.
 *
 * For callers and logs it is the call itself: it has the same ids, depth and identity. It ends with the call, unless
 * it is detached.
 */
export class Attempt extends Call {
  readonly #of: Call
  readonly #log: AttemptLog
  readonly #revalidate: Revalidation | undefined
  #number: number
  /** Where the handler runs, once it has started: in this attempt, or in an inner one. */
  #runner: Call | undefined

  constructor(of: Call, change: Change, log: AttemptLog) {
    super(of.kernel, of.record, change.detached === true ? undefined : of, optionsOf(of, change))
    this.#of = of
    this.#log = log
    this.#number = log.started + 1
    this.#revalidate = change.revalidate ?? of.revalidate
  }

  override get isAttempt(): boolean {
    return true
  }

  override get attempt(): number {
    return this.#number
  }

  override get revalidate(): Revalidation | undefined {
    return this.#revalidate
  }

  override get requestId(): string {
    return this.#of.requestId
  }

  override get parentRequestId(): string | undefined {
    return this.#of.parentRequestId
  }

  override get caller(): Call | undefined {
    return this.#of.caller
  }

  override get depth(): number {
    return this.#of.depth
  }

  override get outer(): OuterCall | undefined {
    return this.#of.outer
  }

  override get answering(): ResponseHost | undefined {
    // Detached work may go on after the response.
    return this.#of.isOver ? undefined : this.#of.answering
  }

  override get scope(): CallScope | undefined {
    return this.#of.scope
  }

  override get key(): object {
    return this.#of.key
  }

  override countNested(): number {
    return this.#of.countNested()
  }

  /** Notes that the handler starts here. */
  override noteStart(runner: Call = this): void {
    this.#of.noteStart(runner)
    this.#runner = runner
    this.#number = this.#log.started
  }

  /**
   * Computed on first use, like the deadline of a call: reading the clock is a large part of a small attempt.
   */
  override due(now?: number): number {
    if (this.deadline !== undefined || this.parent === undefined) return super.due(now)
    const timeout = this.options?.timeout
    if (timeout === undefined) return this.parent.due(now)
    const start = now ?? this.kernel.clock.now()
    // A whole number, so that attempts of the same millisecond share a timer.
    return (this.deadline = Math.min(Math.ceil(start + timeout), this.parent.due(start)))
  }

  override get isPlain(): boolean {
    return super.isPlain && this.parent?.isPlain === true
  }

  override capDeadline(): void {
    // Set from the beginning.
  }

  override end(...args: Parameters<Call["end"]>): void {
    super.end(...args)
    if (this.ended?.mayHaveExecuted === true) this.#log.hasExecuted = true
  }

  override expire(): void {
    // It is the deadline of the call, which ends its attempts, too.
    if (this.parent !== undefined && this.due() >= this.parent.due()) return
    const { id } = this.record
    const { timeout } = this.options as CallOptions
    const message = `Attempt ${this.#number} of "${id}" took longer than ${timeout} ms (request ${this.requestId}).`
    this.end("TIMEOUT", message)
  }

  override get timeoutDetails(): object {
    return { attemptTimeout: this.options?.timeout }
  }

  /** Only the outcome of the call is reported. A failed attempt cannot start new calls. */
  override fail(thrown: unknown): CallError {
    const error = this.toError(thrown)
    if (this.ended === undefined) {
      this.ended = error
      this.stopWork("ABORTED", `This attempt of "${this.record.id}" has failed.`)
    }
    return error
  }

  protected override get hasBegun(): boolean {
    return this.#runner === undefined ? this.#log.isShared : this.#runner.workHasBegun
  }

  protected override watchDeadline(): void {
    if (this.parent === undefined || this.options?.timeout !== undefined) super.watchDeadline()
  }

  protected override complete(result: unknown): unknown {
    return result
  }
}

/** The options of an attempt: those of the call, and the changes. Its questions go to the call otherwise. */
function optionsOf(of: Call, change: Change): CallOptions {
  const { timeout, signal, metadata, detached, progress, requestInput } = change
  const from = of.options
  return {
    identity: of.identity,
    timeout,
    signal,
    metadata:
      metadata === undefined ? from?.metadata : Object.freeze({ ...from?.metadata, ...metadata }),
    log: from?.log ?? of.root.options?.log,
    progress: progress ?? (detached === true ? undefined : from?.progress),
    requestInput,
    policy: from?.policy,
    idempotencyKey: from?.idempotencyKey,
  }
}
