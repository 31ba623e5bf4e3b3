import { isRecord } from "../internal/guards.ts"
import { ERROR_CODES, refusal } from "./errors.ts"
import type { CallError, CallErrorJSON, CallErrorOptions, ErrorCode } from "./errors.ts"
import { getOwn } from "../schema/json.ts"
import type { OperationSpec } from "./types.ts"

/** An error response (RFC 9457) with the members of a `CallError`. */
export interface HTTPProblem extends Omit<CallErrorJSON, "message"> {
  /** Documentation of the code; `about:blank` for an operation's own code. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
}

/** Documentation of the library's codes. */
const ERROR_PAGE = "https://github.com/alkdev/operations/blob/main/docs/errors.md"

/** Default status of a declared error: the request was valid, but the operation rejected it. */
const DECLARED_STATUS = 422

/**
 * Converts an error to a problem: no stack, no cause, no secrets. Never throws.
 *
 * `requestId` is the id of the request: the error may have the id of a nested call.
 */
export function problemOf(
  error: CallError,
  spec?: OperationSpec,
  requestId?: string,
  status?: number,
): HTTPProblem {
  const { message, ...rest } = jsonOf(error)
  return {
    type: Object.hasOwn(ERROR_CODES, rest.code) ? `${ERROR_PAGE}#${rest.code}` : "about:blank",
    title: titleOf(rest.code),
    status: status ?? upstreamStatus(rest.details, spec) ?? statusOf(rest.code, spec),
    detail: message,
    ...rest,
    // The requested operation: clients may not know the nested ones.
    ...(spec !== undefined && { operationId: `${spec.namespace}.${spec.name}` }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** The error that a problem in JSON describes; `undefined` for anything else. */
export function problemError(problem: unknown): CallError | undefined {
  if (!isRecord(problem)) return undefined
  const { code, detail, details, retryable, mayHaveExecuted, retryAfterMs, attempts } = problem
  const { requestId, operationId } = problem
  if (typeof code !== "string" || code === "" || typeof detail !== "string") return undefined
  const options: CallErrorOptions = {
    details,
    retryable: typeof retryable === "boolean" ? retryable : undefined,
    mayHaveExecuted: typeof mayHaveExecuted === "boolean" ? mayHaveExecuted : undefined,
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
    attempts: typeof attempts === "number" && attempts > 1 ? attempts : undefined,
    requestId: typeof requestId === "string" ? requestId : undefined,
    operationId: typeof operationId === "string" ? operationId : undefined,
  }
  return refusal(code, detail, options)
}

/** The HTTP status of an error code, which an operation may have declared. */
export function statusOf(code: string, spec?: OperationSpec): number {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CODES[code as ErrorCode].httpStatus
  const declared = spec?.errorSchemas?.find((one) => one.code === code)
  return declared === undefined ? 500 : declaredStatus(declared)
}

/**
 * The status of an imported API's answer, if its document declares it as the caller's mistake. A refused credential is not:
 * it is the server's own. 428 where the operation asks a caller that cannot be asked.
 */
function upstreamStatus(details: unknown, spec: OperationSpec | undefined): number | undefined {
  const { declared, statusCode: status, reason } = isRecord(details) ? details : {}
  // Repeating the request would not help: it needs a way to answer.
  if (reason === "INPUT_UNAVAILABLE") return 428
  if (!(Number(status) >= 400 && Number(status) < 500) || [401, 403, 407].includes(Number(status)))
    return undefined
  return spec?.errorSchemas?.some(({ code }) => code === declared) === true
    ? Number(status)
    : undefined
}

/** The header `Retry-After` of an error: whole seconds, at least 1, since with 0 a client would retry at once. */
export function retryAfterOf({
  retryAfterMs: ms,
}: {
  readonly retryAfterMs?: number | undefined
}): Readonly<Record<string, string>> {
  if (ms === undefined) return {}
  const seconds = Number.isFinite(ms) ? Math.min(Math.max(1, Math.ceil(ms / 1000)), 86_400) : 86_400
  return { "retry-after": String(seconds) }
}

/** The status of a declared error; statuses below 400 are ignored. */
export function declaredStatus({
  httpStatus,
}: {
  readonly httpStatus?: number | undefined
}): number {
  return httpStatus !== undefined && httpStatus >= 400 && httpStatus <= 599
    ? httpStatus
    : DECLARED_STATUS
}

/** The JSON of an error. An error of another copy of this package may have a broken `toJSON`. */
function jsonOf(error: CallError): CallErrorJSON {
  try {
    const json: unknown = error.toJSON()
    if (typeof json === "object" && json !== null && typeof getOwn(json, "message") === "string") {
      return json as CallErrorJSON
    }
  } catch {
    // Reported below, without the broken JSON.
  }
  return {
    code: error.code,
    message: "The call failed, and its error cannot be read.",
    retryable: error.retryable,
    mayHaveExecuted: error.mayHaveExecuted,
  }
}

/** `OPERATION_NOT_FOUND` as "Operation not found". */
function titleOf(code: string): string {
  const words = code
    .replaceAll(/[_\s]+/g, " ")
    .trim()
    .toLowerCase()
  return words === "" ? "Error" : words.charAt(0).toUpperCase() + words.slice(1)
}
