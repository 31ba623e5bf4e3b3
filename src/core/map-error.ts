import { CallError, type CallErrorOptions, ErrorCode, isCallError } from "./errors.ts"
import { preview, readProperty } from "../internal/error-text.ts"
import { markInternal } from "./error-marks.ts"
import { compileSchema } from "../schema/compiled.ts"
import type { ErrorDefinition } from "./types.ts"

/** Which call an error belongs to. */
export interface ErrorStamp {
  readonly operationId?: string | undefined
  readonly requestId?: string | undefined
}

/**
 * Converts anything thrown to a `CallError`.
 *
 * A `CallError` is returned unchanged. A value with a declared `code` keeps it, and its `details` if they
 * match the declared schema. The library's own codes cannot be claimed this way.
 */
export function mapError(
  thrown: unknown,
  errorSchemas?: readonly ErrorDefinition[],
  stamp: ErrorStamp = {},
): CallError {
  if (isCallError(thrown)) return thrown
  const code = readProperty(thrown, "code")
  const declared = errorSchemas?.find((definition) => definition.code === code)
  if (declared !== undefined && !Object.hasOwn(ErrorCode, declared.code)) {
    return fromDeclared(thrown, declared, stamp)
  }
  const options: CallErrorOptions = { cause: thrown, ...stampOf(stamp) }
  if (isError(thrown)) {
    return markInternal(
      new CallError("EXECUTION_ERROR", messageOf(thrown) ?? "The handler failed.", options),
    )
  }
  const raw = preview(thrown)
  const message = `Something that is not an Error was thrown: ${raw}`
  return markInternal(new CallError("UNKNOWN_ERROR", message, { ...options, details: { raw } }))
}

function fromDeclared(thrown: unknown, declared: ErrorDefinition, stamp: ErrorStamp): CallError {
  const details = readProperty(thrown, "details")
  const fits = details === undefined || compileSchema(declared.schema).check(details)
  const message = messageOf(thrown) ?? (declared.description || declared.code)
  return new CallError(
    declared.code,
    fits ? message : `${message} (Its details do not match the declared schema and were removed.)`,
    { cause: thrown, ...(fits && details !== undefined ? { details } : {}), ...stampOf(stamp) },
  )
}

function stampOf(stamp: ErrorStamp): ErrorStamp {
  return { operationId: stamp.operationId, requestId: stamp.requestId }
}

function messageOf(thrown: unknown): string | undefined {
  const message = readProperty(thrown, "message")
  return typeof message === "string" && message !== "" ? message : undefined
}

/** Whether a value is an error, also of another realm, which `instanceof` does not recognize. */
function isError(thrown: unknown): boolean {
  try {
    return thrown instanceof Error || Object.prototype.toString.call(thrown) === "[object Error]"
  } catch {
    return false
  }
}
