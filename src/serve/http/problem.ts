import { ERROR_CODES, isCallError } from "../../core/errors.ts"
import type { CallError, CallErrorJSON, ErrorCode } from "../../core/errors.ts"
import { mapError } from "../../core/map-error.ts"
import { getOwn } from "../../schema/json.ts"
import type { OperationSpec } from "../../core/types.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { COMMON_HEADERS, HTTPRefusal } from "./context.ts"

/** An error as clients read it: RFC 9457, with what a `CallError` knows. */
export interface HTTPProblem extends Omit<CallErrorJSON, "message"> {
  /** Where the code is explained; `about:blank` for a code of an operation. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
}

/** Where the library's own codes are explained. */
const ERROR_PAGE = "https://github.com/alkdev/operations/blob/main/docs/errors.md"

/** The media type of a problem. */
export const PROBLEM_TYPE = "application/problem+json"

/** The status of a declared error that names none: the request was fine, the answer is no. */
const DECLARED_STATUS = 422

/**
 * What a client is told about whatever was thrown: no stack, no cause, no secrets. Never throws.
 *
 * `requestId` is the request's own: that of an error may be the id of a call within a call.
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
    // Of the call that was asked for: what it called itself may not be for clients to know.
    ...(spec !== undefined && { operationId: `${spec.namespace}.${spec.name}` }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** The same as an answer. A refusal of ours has a status and headers of its own. */
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

/** The status of an error's code, which an operation may have declared. */
export function statusOf(code: string, spec?: OperationSpec): number {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CODES[code as ErrorCode].httpStatus
  const declared = spec?.errorSchemas?.find((one) => one.code === code)
  return declared === undefined ? 500 : declaredStatus(declared)
}

/** The status of a declared error; one that would not read as an error is not used. */
export function declaredStatus({
  httpStatus,
}: {
  readonly httpStatus?: number | undefined
}): number {
  return httpStatus !== undefined && httpStatus >= 400 && httpStatus <= 599
    ? httpStatus
    : DECLARED_STATUS
}

/** An error of another copy of this package may have any `toJSON`, or a broken one. */
function jsonOf(error: CallError): CallErrorJSON {
  try {
    const json: unknown = error.toJSON()
    if (typeof json === "object" && json !== null && typeof getOwn(json, "message") === "string") {
      return json as CallErrorJSON
    }
  } catch {
    // Told below, without what could not be read.
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

/** Whole seconds, and never none: a client would repeat at once. */
function secondsOf(ms: number): string {
  return String(Number.isFinite(ms) ? Math.min(Math.max(1, Math.ceil(ms / 1000)), 86_400) : 86_400)
}
