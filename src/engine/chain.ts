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

  /** Runs an admitted call. Resolves with an envelope that needs no more processing; never throws. */
  run(call: Call, input: unknown, isTrusted: boolean): Promise<ResponseEnvelope> {
    const log = new AttemptLog(this, isTrusted)
    call.attemptLog = log
    return this.#enter(0, call, input, log)
  }

  /** The items of an admitted subscription. */
  source(call: Call, isTrusted: boolean): StreamSource {
    const log = new AttemptLog(this, isTrusted)
    call.attemptLog = log
    return this.#level(0, log)
  }

  #enter(index: number, call: Call, input: unknown, log: AttemptLog): Promise<ResponseEnvelope> {
    const link = this.#links[index]
    if (link?.call === undefined) return runHandler(call, input, log)
    let isRepeated = false
    const next: Next = (change) => {
      const isFirst =
        !isRepeated && change === undefined && call.ended === undefined && !call.isOver
      isRepeated = true
      const outcome = isFirst
        ? this.#enter(index + 1, call, input, log)
        : this.#attempt(index + 1, call, input, change ?? {}, log)
      // A middleware that awaits something else first must not end the process.
      outcome.catch(ignore)
      return outcome
    }
    try {
      const outcome = link.call(new CallView(call, input), next) as unknown
      const promise = outcome instanceof Promise ? outcome : Promise.resolve(outcome)
      return promise.then(
        (envelope: unknown) => complete(envelope, link, call),
        (thrown: unknown) => {
          throw call.toError(thrown)
        },
      )
    } catch (thrown) {
      return Promise.reject(call.toError(thrown))
    }
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
      const admitted =
        change.input === undefined
          ? input
          : attempt.kernel.admit(attempt, change.input, log.isTrusted)
      if (attempt.ended !== undefined) throw attempt.ended
      if (change.input === undefined || !isStillChecked(attempt, admitted)) {
        return attempt.wait(this.#enter(index, attempt, admitted, log))
      }
      return attempt.wait(
        admitted.then((ready) =>
          attempt.ended === undefined ? this.#enter(index, attempt, ready, log) : undefined,
        ),
      )
    } catch (thrown) {
      return Promise.reject(attempt.toError(thrown))
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
      toEnvelope: (call, value) => complete(value, link, call),
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

function runHandler(call: Call, input: unknown, log: AttemptLog): Promise<ResponseEnvelope> {
  const { record, kernel } = call
  const succeed = (result: unknown): ResponseEnvelope => {
    const envelope = kernel.toEnvelope(record, result)
    log.end(true)
    return envelope
  }
  const fail = (thrown: unknown): CallError => {
    const error = call.toError(thrown)
    log.end(error.mayHaveExecuted)
    return error
  }
  call.noteStart()
  try {
    const result = (record.handler as AnyHandler)(input, new CallContext(call))
    if (!isThenable(result)) return Promise.resolve(succeed(result))
    const promise = result instanceof Promise ? result : Promise.resolve(result)
    return promise.then(
      (value: unknown) => {
        try {
          return succeed(value)
        } catch (thrown) {
          throw fail(thrown)
        }
      },
      (thrown: unknown) => {
        throw fail(thrown)
      },
    )
  } catch (thrown) {
    return Promise.reject(fail(thrown))
  }
}

/** Creates an attempt. Throws if the call is over, or if the change is not one. Shared work outlives its first caller. */
function openAttempt(call: Call, change: Change, log: AttemptLog): Attempt {
  const isOver =
    change.detached === true ? call.kernel.isClosed : call.ended !== undefined || call.isOver
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

function complete(value: unknown, link: Link, { record }: Call): ResponseEnvelope {
  if (isResponseEnvelope(value)) return value
  throw mistake(
    `Middleware "${link.name}" returned ${typeName(value)} for "${record.id}", and must return an envelope: that of next(), or localEnvelope(data, call.operationId).`,
    record.id,
  )
}

/** The error of a middleware that is wrong. Its message is for the application alone. */
function mistake(message: string, operationId: string): CallError {
  return markInternal(new CallError("EXECUTION_ERROR", message, { operationId }))
}

function ignore(): void {}
