// The way of a call through its middleware: from one to the next, in attempts, to the handler.
import { isResponseEnvelope } from "../core/envelope.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import { CallError, refusal } from "../core/errors.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { Change, Middleware, Next, StreamNext } from "../core/middleware.ts"
import { markInternal } from "../core/error-marks.ts"
import { typeName } from "../internal/describe.ts"
import { isThenable } from "../internal/guards.ts"
import { Attempt } from "./attempt.ts"
import { AttemptLog } from "./attempt-log.ts"
import type { Call } from "./call.ts"
import { CallContext } from "./context.ts"
import { isStillChecked } from "./input.ts"
import { CallView } from "./middleware-call.ts"
import { optionsIssue } from "./options.ts"
import type { AnyHandler } from "./record.ts"
import { HANDLER, iteratorOf, Stream } from "./stream.ts"
import type { StreamSource } from "./stream.ts"

/** One middleware in front of an operation. */
export interface Link extends Pick<Middleware, "call" | "stream"> {
  /** For messages. */
  readonly name: string
}

/** The middleware of one operation, outermost first, with the handler at its end. */
export class Chain {
  /** Some work of this operation is done for several callers. */
  isShared = false
  readonly #links: readonly Link[]

  constructor(links: readonly Link[]) {
    this.#links = links
  }

  /** Runs an admitted call. */
  run(call: Call, input: unknown, isTrusted: boolean): Promise<ResponseEnvelope> {
    const outcome = call.expose()
    this.start(call, input, isTrusted)
    return outcome
  }

  /** The same for a call whose caller is set. It is never notified before this returns. */
  start(call: Call, input: unknown, isTrusted: boolean): void {
    this.#enter(
      0,
      call,
      input,
      this.#logFor(call, isTrusted),
      (envelope) => call.finish(envelope),
      (error) => call.finishWith(error),
    )
    call.watch()
  }

  /** The same for a call that is waited for already. */
  continue(call: Call, input: unknown, isTrusted: boolean): Promise<ResponseEnvelope> {
    const log = this.#logFor(call, isTrusted)
    return new Promise((resolve, reject) => this.#enter(0, call, input, log, resolve, reject))
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

  /** Runs the middleware from `index` on. Exactly one of the functions is called, by middleware never at once. */
  #enter(
    index: number,
    call: Call,
    input: unknown,
    log: AttemptLog,
    resolve: (envelope: ResponseEnvelope) => void,
    reject: (error: CallError) => void,
  ): void {
    const link = this.#links[index]
    if (link?.call === undefined) return runHandler(call, input, log, resolve, reject)
    let isRepeated = false
    const next: Next = (change) => {
      const isPlain = !isRepeated && change === undefined && isOpen(call)
      isRepeated = true
      return isPlain
        ? this.#continue(index + 1, call, input, log)
        : this.#attempt(index + 1, call, input, change ?? {}, log)
    }
    try {
      const outcome: unknown = link.call(new CallView(call, input), next)
      const promise = outcome instanceof Promise ? outcome : Promise.resolve(outcome)
      promise.then(
        (value: unknown) => {
          if (isResponseEnvelope(value)) resolve(value)
          else reject(call.toError(notAnEnvelope(value, link, call)))
        },
        (thrown: unknown) => reject(call.toError(thrown)),
      )
    } catch (thrown) {
      queueMicrotask(() => reject(call.toError(thrown)))
    }
  }

  /** Runs the rest as a part of the call itself. */
  #continue(index: number, call: Call, input: unknown, log: AttemptLog): Promise<ResponseEnvelope> {
    let succeed: (envelope: ResponseEnvelope) => void = ignore
    let reject: (error: CallError) => void = ignore
    const outcome = new Promise<ResponseEnvelope>((onSuccess, onFailure) => {
      succeed = onSuccess
      reject = onFailure
    })
    const fail = (error: CallError): void => {
      // Marked only now: most promises do not fail.
      void handled(outcome)
      reject(error)
    }
    // It settles with the call, even if what is further in never does.
    call.onEnd(fail)
    this.#enter(index, call, input, log, succeed, fail)
    return outcome
  }

  /** Runs the rest in an attempt of its own. */
  #attempt(
    index: number,
    call: Call,
    input: unknown,
    change: Change,
    log: AttemptLog,
  ): Promise<ResponseEnvelope> {
    let attempt: Call = call
    try {
      if (change.detached === true) this.isShared = true
      attempt = openAttempt(call, change, log)
      call.kernel.begin(attempt)
      const { input: changed } = change
      const admitted =
        changed === undefined ? input : call.kernel.admit(attempt, changed, log.isTrusted)
      if (attempt.ended !== undefined) throw attempt.ended
      const outcome = handled(attempt.expose())
      attempt.watch()
      const enter = (ready: unknown): void => {
        if (attempt.ended !== undefined) return
        this.#enter(
          index,
          attempt,
          ready,
          log,
          (envelope) => attempt.finish(envelope),
          (error) => attempt.finishWith(error),
        )
      }
      if (changed === undefined || !isStillChecked(attempt, admitted)) enter(admitted)
      else admitted.then(enter).catch((thrown: unknown) => attempt.finishWith(thrown))
      return outcome
    } catch (thrown) {
      return handled(Promise.reject(attempt.toError(thrown)))
    }
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
        return iteratorOf(open(new CallView(call, input), next), () => {
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
          call: openAttempt(call, change, log),
          input: change.input ?? input,
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

function runHandler(
  call: Call,
  input: unknown,
  log: AttemptLog,
  resolve: (envelope: ResponseEnvelope) => void,
  reject: (error: CallError) => void,
): void {
  const { record, kernel } = call
  const fail = (thrown: unknown): void => {
    const error = call.toError(thrown)
    call.isHandling = false
    log.end(error.mayHaveExecuted)
    reject(error)
  }
  const succeed = (result: unknown): void => {
    let envelope: ResponseEnvelope
    try {
      envelope = kernel.toEnvelope(record, result)
    } catch (thrown) {
      fail(thrown)
      return
    }
    call.isHandling = false
    log.end(true)
    resolve(envelope)
  }
  call.noteStart()
  call.isHandling = true
  let result: unknown
  try {
    result = (record.handler as AnyHandler)(input, new CallContext(call))
  } catch (thrown) {
    fail(thrown)
    return
  }
  if (isThenable(result)) Promise.resolve(result).then(succeed, fail)
  else succeed(result)
}

function isOpen(call: Call): boolean {
  return call.ended === undefined && !call.isOver
}

/** Creates an attempt. Throws if the call is over, or if the change is not one. Shared work outlives its first caller. */
function openAttempt(call: Call, change: Change, log: AttemptLog): Attempt {
  const isOver = change.detached === true ? call.kernel.isClosed : !isOpen(call)
  if (isOver) {
    throw refusal("ABORTED", `"${call.record.id}" was not called: its call had ended.`, {
      operationId: call.record.id,
      mayHaveExecuted: false,
      cause: call.ended,
    })
  }
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
  return new Attempt(call, change, log)
}

const NAMES: ReadonlySet<string> = new Set<keyof Change>([
  "input",
  "timeout",
  "signal",
  "detached",
  "metadata",
  "revalidate",
])

function notAnEnvelope(value: unknown, link: Link, { record }: Call): CallError {
  return mistake(
    `Middleware "${link.name}" returned ${typeName(value)} for "${record.id}", and must return an envelope: that of next(), or localEnvelope(data, call.operationId).`,
    record.id,
  )
}

/** The error of a middleware that is wrong. Its message is for the application alone. */
function mistake(message: string, operationId: string): CallError {
  return markInternal(new CallError("EXECUTION_ERROR", message, { operationId }))
}

/** Marks a promise: a middleware that awaits something else first must not end the process. */
function handled<TValue>(promise: Promise<TValue>): Promise<TValue> {
  promise.catch(ignore)
  return promise
}

function ignore(): void {}
