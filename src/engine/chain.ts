// The path of a call through its middleware: from one to the next, in attempts, to the handler.
import { isResponseEnvelope, type ResponseEnvelope } from "../core/envelope.ts"
import { CallError, refusal } from "../core/errors.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type {
  Change,
  Middleware,
  MiddlewareFunction,
  Next,
  StreamNext,
} from "../core/middleware.ts"
import { markAbandoned, markInternal } from "../core/error-marks.ts"
import { capture, capturedReject, capturedResolve } from "../internal/captured.ts"
import { typeName } from "../internal/message-text.ts"
import { Attempt } from "./attempt.ts"
import { AttemptLog } from "./attempt-log.ts"
import type { Call } from "./call.ts"
import { isStillChecked } from "./input.ts"
import { invoke } from "./invoke.ts"
import { CallView } from "./middleware-call.ts"
import { optionsIssue } from "./options.ts"
import { HANDLER, iteratorOf, Stream, type StreamSource } from "./stream.ts"

/** One middleware in front of an operation. */
export interface Link extends Pick<Middleware, "call" | "stream"> {
  /** For messages. */
  readonly name: string
  /** It notes each call whose work it shares, so that other calls need not be suspected. */
  readonly notesSharedWork?: boolean
}

interface CallLink extends Link {
  readonly call: MiddlewareFunction
}

/** Receives the outcome of a part of a chain, once. */
interface Receiver {
  finish(envelope: ResponseEnvelope): void
  finishWith(error: CallError): void
}

/** The middleware of one operation, outermost first, with the handler at its end. */
export class Chain {
  /** Whether a middleware has shared work among callers, and does not note for which. */
  isShared = false
  readonly #links: readonly Link[]
  /** The last validated change; it is frozen. */
  #validChange: Change | undefined

  constructor(links: readonly Link[]) {
    this.#links = links
  }

  /** Runs an admitted call. */
  run(call: Call, input: unknown, isTrusted: boolean): Promise<ResponseEnvelope> {
    const outcome = call.expose()
    this.start(call, input, isTrusted)
    return outcome
  }

  /** The same for a call whose caller is set. The caller is never notified before this returns. */
  start(call: Call, input: unknown, isTrusted: boolean): void {
    this.#enter(0, call, input, this.#logFor(call, isTrusted), call)
    call.watch()
  }

  /** The same for a call that is already being awaited. */
  continue(call: Call, input: unknown, isTrusted: boolean): Promise<ResponseEnvelope> {
    const outcome = new Outcome()
    this.#enter(0, call, input, this.#logFor(call, isTrusted), outcome)
    return outcome.promise
  }

  /** The items of an admitted subscription. */
  source(call: Call, isTrusted: boolean): StreamSource {
    return this.#level(0, this.#logFor(call, isTrusted))
  }

  #logFor(call: Call, isTrusted: boolean): AttemptLog {
    const log = new AttemptLog(this, isTrusted)
    call.attemptLog = log
    return log
  }

  /** Runs a middleware. The receiver is never notified synchronously. */
  #enter(index: number, call: Call, input: unknown, log: AttemptLog, receiver: Receiver): void {
    const link = this.#links[index] as CallLink
    let isRepeated = false
    const next: Next = (change) => {
      const isPlain = !isRepeated && change === undefined && isOpen(call)
      isRepeated = true
      return isPlain
        ? this.#continue(index + 1, call, input, log)
        : this.#attempt(index + 1, call, input, change ?? {}, log)
    }
    try {
      const outcome: unknown = link.call(new CallView(call, input, log), next)
      const promise = outcome instanceof Promise ? outcome : Promise.resolve(outcome)
      promise.then(
        (value: unknown) => {
          if (isResponseEnvelope(value)) receiver.finish(value)
          else receiver.finishWith(call.toError(notAnEnvelope(value, link, call)))
        },
        (thrown: unknown) => receiver.finishWith(call.toError(thrown)),
      )
    } catch (thrown) {
      queueMicrotask(() => receiver.finishWith(call.toError(thrown)))
    }
  }

  /** Runs the rest as part of the call itself. Settles with the call, even if the inner part never does. */
  #continue(index: number, call: Call, input: unknown, log: AttemptLog): Promise<ResponseEnvelope> {
    const isLast = index === this.#links.length
    const result = isLast ? callHandler(call, input, log) : undefined
    if (isLast && !(result instanceof Promise)) return settled(result)
    const outcome = new Outcome()
    call.onEnd(outcome)
    // The handler itself may have ended the call.
    if (call.ended !== undefined) outcome.finishWith(call.ended)
    if (result instanceof Promise) followHandler(call, result, log, outcome)
    else this.#enter(index, call, input, log, outcome)
    return outcome.promise
  }

  /** Runs the rest in a separate attempt. */
  #attempt(
    index: number,
    call: Call,
    input: unknown,
    change: Change,
    log: AttemptLog,
  ): Promise<ResponseEnvelope> {
    let attempt: Call = call
    try {
      if (change.detached === true) {
        log.hasSharedWork = true
        this.isShared ||= this.#links[index - 1]?.notesSharedWork !== true
      }
      attempt = this.#openAttempt(call, change, log)
      call.kernel.begin(attempt)
      const { input: changed } = change
      if (changed === undefined) return this.#runAttempt(index, attempt, input, log)
      const admitted = call.kernel.admit(attempt, changed, log.isTrusted)
      if (attempt.ended !== undefined) throw attempt.ended
      if (!isStillChecked(attempt, admitted)) return this.#runAttempt(index, attempt, admitted, log)
      const outcome = handled(attempt.expose())
      attempt.watch()
      admitted
        .then(async (ready) => {
          if (attempt.ended === undefined)
            attempt.finish(await this.#continue(index, attempt, ready, log))
        })
        .catch((thrown: unknown) => attempt.finishWith(thrown))
      return outcome
    } catch (thrown) {
      return handled(Promise.reject(attempt.toError(thrown)))
    }
  }

  /**
   * Runs the rest in a started attempt. An attempt with a synchronous handler cannot be ended by anything
   * else.
   */
  #runAttempt(
    index: number,
    attempt: Call,
    input: unknown,
    log: AttemptLog,
  ): Promise<ResponseEnvelope> {
    const isLast = index === this.#links.length
    const result = isLast ? callHandler(attempt, input, log) : undefined
    if (isLast && !(result instanceof Promise)) {
      attempt.unwatch()
      return settled(result instanceof Error ? attempt.fail(result) : attempt.endWork(result))
    }
    const outcome = handled(attempt.expose())
    attempt.watch()
    if (attempt.parent?.ended !== undefined) attempt.end("ABORTED", hasEnded(attempt))
    if (result instanceof Promise) followHandler(attempt, result, log, attempt)
    else this.#enter(index, attempt, input, log, attempt)
    return outcome
  }

  /**
   * Creates an attempt. Throws if the call has ended or the change is invalid. Shared work outlives its first
   * caller.
   */
  #openAttempt(call: Call, change: Change, log: AttemptLog): Attempt {
    const isOver = change.detached === true ? call.kernel.isClosed : !isOpen(call)
    if (isOver) {
      throw refusal("ABORTED", `"${call.record.id}" was not called: its call had ended.`, {
        operationId: call.record.id,
        mayHaveExecuted: false,
        cause: call.ended,
      })
    }
    if (change !== this.#validChange) {
      validateChange(change)
      if (Object.isFrozen(change)) this.#validChange = change
    }
    return new Attempt(call, change, log)
  }

  #level(index: number, log: AttemptLog): StreamSource {
    const link = this.#links[index]
    if (link?.stream === undefined) return new LoggedHandler(log)
    const open = link.stream
    return {
      isMiddleware: true,
      open: (call, input) => {
        const next: StreamNext = (change = {}) =>
          this.#attemptStream(index + 1, call, input, change, log)
        return iteratorOf(open(new CallView(call, input, log), next), () => {
          const { id } = call.record
          const what = `Middleware "${link.name}" must return an async iterable for "${id}"; write async *stream(call, next).`
          return mistake(what, id)
        })
      },
      toEnvelope: (call, value) => {
        if (isResponseEnvelope(value)) return value
        throw notAnEnvelope(value, link, call)
      },
    }
  }

  #attemptStream(
    index: number,
    call: Call,
    input: unknown,
    change: Change,
    log: AttemptLog,
  ): EnvelopeStream {
    return new Stream(() => {
      try {
        if (change.detached === true) {
          throw new TypeError("next({ detached }): a stream belongs to its reader; leave it out.")
        }
        return {
          call: this.#openAttempt(call, change, log),
          input: change.input === undefined ? input : change.input,
          isAdmitted: change.input === undefined,
          trusted: log.isTrusted,
          observer: undefined,
          source: () => this.#level(index, log),
        }
      } catch (thrown) {
        throw call.toError(thrown)
      }
    })
  }
}

/** The handler as the innermost part of a stream; counts how often it is started. */
class LoggedHandler implements StreamSource {
  readonly isMiddleware = false
  readonly #log: AttemptLog
  #isRunning = false

  constructor(log: AttemptLog) {
    this.#log = log
  }

  open(call: Call, input: unknown): AsyncIterator<unknown> {
    call.noteStart()
    this.#isRunning = true
    return HANDLER.open(call, input)
  }

  toEnvelope(call: Call, value: unknown): ResponseEnvelope {
    return HANDLER.toEnvelope(call, value)
  }

  end(error: CallError | undefined): void {
    if (this.#isRunning) this.#log.end(error?.mayHaveExecuted ?? true)
    this.#isRunning = false
  }
}

/** Invokes the handler, and logs the attempt. */
function callHandler(
  call: Call,
  input: unknown,
  log: AttemptLog,
): ResponseEnvelope | CallError | Promise<unknown> {
  call.noteStart()
  const result = invoke(call, input)
  if (result instanceof Error) return handlerFailed(call, result, log)
  if (!(result instanceof Promise)) log.end(true)
  return result
}

function handlerFailed(call: Call, error: CallError, log: AttemptLog): CallError {
  log.end(error.mayHaveExecuted)
  // Another attempt may follow in the same call.
  if (!log.isRunning) call.endOpened("The handler that opened it has failed.")
  return error
}

/** Passes on the outcome of a handler that is asynchronous. */
function followHandler(
  call: Call,
  result: Promise<unknown>,
  log: AttemptLog,
  receiver: Receiver,
): void {
  const fail = (thrown: unknown): void => {
    const error = handlerFailed(call, call.toHandlerError(thrown), log)
    call.handling = undefined
    receiver.finishWith(error)
  }
  const succeed = (value: unknown): void => {
    let envelope: ResponseEnvelope
    try {
      envelope = call.kernel.toEnvelope(call, value)
    } catch (thrown) {
      fail(thrown)
      return
    }
    call.handling = undefined
    log.end(true)
    receiver.finish(envelope)
  }
  call.handling = result
  // The handler itself may have ended the call.
  if (call.ended !== undefined) markAbandoned(call.ended, result)
  result.then(succeed, fail)
}

/** A promise for a known outcome. */
function settled(result: ResponseEnvelope | CallError | undefined): Promise<ResponseEnvelope> {
  if (!(result instanceof Error)) return Promise.resolve(result as ResponseEnvelope)
  const outcome = new Outcome()
  outcome.finishWith(result)
  return outcome.promise
}

/** A promise, and what settles it. */
class Outcome implements Receiver {
  readonly promise: Promise<ResponseEnvelope> = new Promise(capture) as never
  readonly finish: (envelope: ResponseEnvelope) => void = capturedResolve
  readonly #reject: (error: CallError) => void = capturedReject

  finishWith(error: CallError): void {
    // Marked only now: most promises do not fail.
    void handled(this.promise)
    this.#reject(error)
  }
}

function isOpen(call: Call): boolean {
  return call.ended === undefined && !call.isOver
}

function hasEnded({ record }: Call): string {
  return `The call of "${record.id}" has ended.`
}

function validateChange(change: Change): void {
  const issue = optionsIssue(change)
  if (issue !== undefined)
    throw new TypeError(`next(change): ${issue.path.slice(1)} ${issue.message}.`)
  for (const name in change) {
    if (!NAMES.has(name)) {
      throw new TypeError(
        `next(change): "${name}" cannot be changed. Known: ${[...NAMES].join(", ")}.`,
      )
    }
  }
}

const NAMES: ReadonlySet<string> = new Set<keyof Change>([
  "input",
  "timeout",
  "signal",
  "detached",
  "metadata",
  "revalidate",
  "progress",
  "requestInput",
])

function notAnEnvelope(value: unknown, link: Link, { record }: Call): CallError {
  return mistake(
    `Middleware "${link.name}" returned ${typeName(value)} for "${record.id}", and must return an envelope: that of next(), or localEnvelope(data, call.operationId).`,
    record.id,
  )
}

/** The error for a mistake in a middleware. Its message is only for the application. */
function mistake(message: string, operationId: string): CallError {
  return markInternal(new CallError("EXECUTION_ERROR", message, { operationId }))
}

/** Marks a promise: a middleware that awaits something else first must not end the process. */
function handled<TValue>(promise: Promise<TValue>): Promise<TValue> {
  promise.catch(ignore)
  return promise
}

function ignore(): void {}
