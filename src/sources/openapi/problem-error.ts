import { CallError } from "../../core/errors.ts"
import type { CallErrorOptions } from "../../core/errors.ts"
import { markForwarded } from "../../core/error-marks.ts"
import { compileSchema } from "../../schema/compiled.ts"
import { getOwn, isPlainRecord } from "../../schema/json.ts"
import type { HandlerContext } from "./call-limits.ts"
import type { OperationSource } from "./operation/source.ts"

/** Longer than a timer can wait: it would fire at once. */
const LONGEST = 2 ** 31 - 1

/**
 * The error that a problem of an operation stands for, under its own code.
 *
 * `undefined` when the document does not declare such a code, or not with such details: `failure`, which
 * is what is known without the problem, says it then. A document of this library speaks for a registry,
 * so that each of its problems is the error that it was there.
 */
export function problemError(
  problem: unknown,
  failure: CallError,
  source: OperationSource,
  context: HandlerContext | undefined,
): CallError | undefined {
  if (!isPlainRecord(problem)) return undefined
  const code = getOwn(problem, "code")
  if (typeof code !== "string" || code === "" || code.length > 128) return undefined
  const { declared, isOurs } = source.problems
  const known = declared.get(code)
  if (known === undefined && !isOurs) return undefined
  const details = known?.holder === "problem" ? problem : getOwn(problem, "details")
  if (known !== undefined && !fits(source, code, details)) {
    context?.log?.warn("An error is not as the document describes it", {
      operationId: source.id,
      declared: code,
    })
    return undefined
  }
  const detail = getOwn(problem, "detail")
  const message = typeof detail === "string" && detail !== "" ? detail : failure.message
  const isFromRegistry = known?.isOurs ?? isOurs
  const error = new CallError(code, message, {
    operationId: source.id,
    cause: failure,
    ...(details !== undefined && { details }),
    ...termsOf(problem, failure, isFromRegistry),
  })
  return isFromRegistry ? markForwarded(error) : error
}

/** Details may be missing, as in any error; those that are there have to be as declared. */
function fits({ errorSchemas }: OperationSource, code: string, details: unknown): boolean {
  const definition = errorSchemas.find((one) => one.code === code)
  return (
    definition !== undefined &&
    (details === undefined || compileSchema(definition.schema).check(details))
  )
}

/**
 * What the problem says about trying again.
 *
 * A registry knows what it did. Any other server can only take back what its status promises: with more
 * it could have a change made twice, or taken for one that was not made.
 */
function termsOf(
  problem: Readonly<Record<string, unknown>>,
  failure: CallError,
  isOurs: boolean,
): Pick<CallErrorOptions, "retryable" | "mayHaveExecuted" | "retryAfterMs"> {
  const retryable = getOwn(problem, "retryable")
  const mayHaveExecuted = getOwn(problem, "mayHaveExecuted")
  const after = getOwn(problem, "retryAfterMs")
  const isTime = typeof after === "number" && Number.isFinite(after) && after >= 0
  const retryAfterMs = isTime ? Math.min(after, LONGEST) : failure.retryAfterMs
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
  }
}
