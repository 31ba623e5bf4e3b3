import { ERROR_CODES, isCallError } from "../../core/errors.ts"
import type { CallError, CallErrorJSON, ErrorCode } from "../../core/errors.ts"
import { mapError } from "../../core/map-error.ts"
import { getOwn } from "../../schema/json.ts"
import type { OperationSpec } from "../../core/types.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { COMMON_HEADERS, HTTPRefusal } from "./context.ts"

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

/** The media type of a problem. */
export const PROBLEM_TYPE = "application/problem+json"

/** Default status of a declared error: the request was valid, but the operation refused it. */
const DECLARED_STATUS = 422

/**
 * Converts a thrown value to a problem for clients: no stack, no cause, no secrets. Never throws.
 *
 * `requestId` is the id of the request: the error may have the id of a nested call.
 */
export function toProblem(thrown: unknown, spec?: OperationSpec, requestId?: string): HTTPProblem {
  const error = isCallError(thrown) ? thrown : mapError(thrown)
  const { message, ...rest } = jsonOf(error)
  return {
    type: Object.hasOwn(ERROR_CODES, rest.code) ? `${ERROR_PAGE}#${rest.code}` : "about:blank",
    title: titleOf(rest.code),
    status: error instanceof HTTPRefusal ? error.status : statusOf(rest.code, spec),
    detail: message,
    ...rest,
    // The requested operation: clients may not know the nested ones.
    ...(spec !== undefined && { operationId: `${spec.namespace}.${spec.name}` }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** Converts a thrown value to a problem response. An `HTTPRefusal` has its own status and headers. */
export function problemAnswer(
  thrown: unknown,
  spec?: OperationSpec,
  requestId?: string,
): HTTPAnswer {
  const problem = toProblem(thrown, spec, requestId)
  const { status, retryAfterMs } = problem
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": PROBLEM_TYPE,
      ...(retryAfterMs !== undefined && { "retry-after": secondsOf(retryAfterMs) }),
      ...(thrown instanceof HTTPRefusal && thrown.headers),
    },
    body: JSON.stringify(problem),
  }
}

/** The HTTP status of an error code, which an operation may have declared. */
export function statusOf(code: string, spec?: OperationSpec): number {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CODES[code as ErrorCode].httpStatus
  const declared = spec?.errorSchemas?.find((one) => one.code === code)
  return declared === undefined ? 500 : declaredStatus(declared)
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

/** Whole seconds, at least 1: with 0 a client would retry at once. */
function secondsOf(ms: number): string {
  return String(Number.isFinite(ms) ? Math.min(Math.max(1, Math.ceil(ms / 1000)), 86_400) : 86_400)
}
