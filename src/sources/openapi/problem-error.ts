import { MAX_TIMER_DELAY } from "../../internal/clock.ts"
import { CallError, type CallErrorOptions } from "../../core/errors.ts"
import { markForwarded } from "../../core/error-marks.ts"
import { compileJson } from "../../schema/compiled.ts"
import { isRecord } from "../../internal/guards.ts"
import { getOwn } from "../../schema/json.ts"
import type { HandlerContext } from "./call-limits.ts"
import type { OperationSource } from "./operation/source.ts"

/**
 * Converts a problem of an operation to an error with its own code.
 *
 * `undefined` when the document does not declare the code with such details: the generic `failure` is used
 * then. Documents of this library describe a registry, so their problems become the original errors.
 */
export function problemError(
  problem: unknown,
  failure: CallError,
  source: OperationSource,
  context: HandlerContext | undefined,
): CallError | undefined {
  if (!isRecord(problem)) return undefined
  const code = getOwn(problem, "code")
  if (typeof code !== "string" || code === "" || code.length > 128) return undefined
  const { declared, isOurs } = source.problems
  const declaration = declared.get(code)
  if (declaration === undefined && !isOurs) return undefined
  const details = declaration?.holder === "problem" ? problem : getOwn(problem, "details")
  if (declaration !== undefined && !fits(source, code, details)) {
    context?.log?.warn("An error is not as the document describes it", {
      operationId: source.id,
      declared: code,
    })
    return undefined
  }
  const detail = getOwn(problem, "detail")
  const message = typeof detail === "string" && detail !== "" ? detail : failure.message
  const isFromRegistry = declaration?.isOurs ?? isOurs
  const error = new CallError(code, message, {
    operationId: source.id,
    cause: failure,
    ...(details !== undefined && { details }),
    ...termsOf(problem, failure, isFromRegistry),
  })
  return isFromRegistry ? markForwarded(error) : error
}

/** Whether details match their schema; they may be missing. */
function fits({ errorSchemas }: OperationSource, code: string, details: unknown): boolean {
  const definition = errorSchemas.find((one) => one.code === code)
  return (
    definition !== undefined &&
    (details === undefined || compileJson(definition.schema).check(details))
  )
}

/**
 * The retry information of a problem.
 *
 * A registry's information is trusted. Other servers can only restrict what the status allows: otherwise they
 * could cause a change to be made twice, or to be reported as not made.
 */
function termsOf(
  problem: Readonly<Record<string, unknown>>,
  failure: CallError,
  isOurs: boolean,
): Pick<CallErrorOptions, "retryable" | "mayHaveExecuted" | "retryAfterMs" | "attempts"> {
  const retryable = getOwn(problem, "retryable")
  const mayHaveExecuted = getOwn(problem, "mayHaveExecuted")
  const after = getOwn(problem, "retryAfterMs")
  const attempts = isOurs ? getOwn(problem, "attempts") : undefined
  const isTime = typeof after === "number" && Number.isFinite(after) && after >= 0
  const retryAfterMs = isTime ? Math.min(after, MAX_TIMER_DELAY) : failure.retryAfterMs
  return {
    retryable:
      isOurs && typeof retryable === "boolean"
        ? retryable
        : failure.retryable && retryable !== false,
    mayHaveExecuted:
      isOurs && typeof mayHaveExecuted === "boolean"
        ? mayHaveExecuted
        : failure.mayHaveExecuted || mayHaveExecuted === true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(typeof attempts === "number" && attempts > 1 && { attempts }),
  }
}
