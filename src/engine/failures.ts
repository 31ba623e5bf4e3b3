import { isCallError, refusal, type CallError } from "../core/errors.ts"
import {
  isForwarded,
  isInternal,
  outwardOf,
  spanOf,
  type OutwardError,
} from "../core/error-marks.ts"
import { describeCause, describeStack, HIDDEN_MESSAGE } from "../internal/error-text.ts"
import type { OptionsSchema } from "../internal/options.ts"
import { redactText } from "../internal/redact.ts"
import { consoleLogger, type Logger } from "../internal/logger.ts"
import { mapError } from "../core/map-error.ts"
import type { Identity } from "../core/types.ts"
import { notify } from "../internal/notify.ts"

/** The call that failed. */
export interface FailedCall {
  /** The outermost operation; `error.operationId` is the one that failed. For a path of a server itself: `GET /path`. */
  readonly operationId: string
  /** The caller also receives it. */
  readonly requestId: string
  /** The request of another registry that led to this one. */
  readonly parentRequestId: string | undefined
  readonly identity: Identity | undefined
  /** How the call came in: `http`, `mcp`, `tools`, `websocket`, `worker`, `nats`, `redis`, `memory`; `registry` for the registry's own `onError`. */
  readonly surface: string
}

/**
 * Receives errors that operators should know about. Errors that it throws are logged, and have no other
 * effect.
 */
export type ErrorListener = (error: CallError, call: FailedCall) => void | Promise<void>

/** Whether remote callers see error messages that were not written for them. */
export type ErrorExposure = "expose" | "hide"

/** How a server reports errors. */
export interface ErrorReporting {
  /**
   * `hide`: callers read "The operation failed." and a request id, unless the operation declares the error or threw
   * a `CallError`. `expose`: they read every message.
   */
  readonly errors?: ErrorExposure | undefined
  /** Receives each `EXECUTION_ERROR`, `UNKNOWN_ERROR` and `OUTPUT_VALIDATION_ERROR` of an operation, beside the log. */
  readonly onError?: ErrorListener | undefined
}

export const ERROR_REPORTING: OptionsSchema<ErrorReporting> = {
  errors: { oneOf: ["expose", "hide"] },
  onError: "function",
}

const REPORTED: ReadonlySet<string> = new Set([
  "EXECUTION_ERROR",
  "UNKNOWN_ERROR",
  "OUTPUT_VALIDATION_ERROR",
])

/** Whether operators should know about an error. An error of another registry was reported there. */
export function isReportable(error: CallError): boolean {
  return REPORTED.has(error.code) && !isForwarded(error)
}

/** Passes an error to a listener; errors of the listener are logged. */
export function notifyOfError(
  listener: ErrorListener,
  error: CallError,
  call: FailedCall,
  logger: Logger,
): void {
  notify(logger, "onError threw", () => listener(error, call), { operationId: call.operationId })
}

/** Handles the errors of one server's calls: logs them, reports them, and decides what callers see. */
export class Failures {
  readonly #surface: string
  readonly #isExposed: boolean
  readonly #onError: ErrorListener | undefined
  readonly #logger: Logger

  constructor(
    surface: string,
    { errors, onError }: ErrorReporting,
    logger: Logger,
    byDefault: ErrorExposure = "hide",
  ) {
    this.#surface = surface
    this.#isExposed = (errors ?? byDefault) === "expose"
    this.#onError = onError
    this.#logger = logger
  }

  /** Reports an error if necessary, and returns the error that the caller may see. */
  answer(thrown: unknown, call: Omit<FailedCall, "surface">): CallError {
    const error = isCallError(thrown) ? thrown : mapError(thrown, undefined, call)
    if (isReportable(error))
      this.#report(error, { ...pickCallFields(call), surface: this.#surface })
    return this.#isExposed ? error : visibleError(error, call)
  }

  #report(error: CallError, call: FailedCall): void {
    this.#logger.error("An operation failed", logFields(error, call))
    if (this.#onError !== undefined) notifyOfError(this.#onError, error, call, this.#logger)
  }
}

/** The logger of a registry, for servers without a logger. */
export function loggerOf(registry: object, otherwise: Logger = consoleLogger): Logger {
  const { logger } = registry as Partial<{ readonly logger: Logger }>
  return logger === undefined || logger === consoleLogger ? otherwise : logger
}

/** The error for a caller outside the application: without what is not for them. */
function visibleError(
  error: CallError,
  { operationId, requestId }: Pick<FailedCall, "operationId" | "requestId">,
): CallError {
  const outward: OutwardError | undefined = isInternal(error)
    ? { message: HIDDEN_MESSAGE }
    : outwardOf(error)
  if (outward === undefined) return error
  const { code, ...fields } = error
  const { message, details } = outward
  // Not a copy, which would have the stack and the cause.
  return refusal(code, message, { ...fields, operationId, requestId, details })
}

/** Text only, without credentials: an error may carry anything, such as the headers of a request. */
function logFields(error: CallError, call: FailedCall): Readonly<Record<string, unknown>> {
  const { operationId, requestId, parentRequestId, identity, surface } = call
  const isNested = error.operationId !== undefined && error.operationId !== operationId
  const cause = describeCause(error)
  return {
    operationId,
    requestId,
    ...(parentRequestId !== undefined && { parentRequestId }),
    ...(isNested && { failedIn: error.operationId }),
    ...(identity !== undefined && { identity: identity.id }),
    surface,
    code: error.code,
    error: redactText(error.message),
    ...(cause !== undefined && { cause }),
    stack: describeStack(error),
    ...spanOf(error),
  }
}

/** Only the fields of `FailedCall`: a server's own object may have more. */
function pickCallFields(call: Omit<FailedCall, "surface">): Omit<FailedCall, "surface"> {
  const { operationId, requestId, parentRequestId, identity } = call
  return { operationId, requestId, parentRequestId, identity }
}
