import { refusal } from "../core/errors.ts"
import { invalid, toValueErrors } from "../core/validation.ts"
import { setOwn } from "../internal/own.ts"
import { pointerSegment } from "../internal/pointer.ts"
import type { Call } from "./call.ts"
import type { OperationRecord } from "./record.ts"
import { warnOfMismatch } from "./result-pipeline.ts"

/** The input with the id of its resource read once, so that the handler gets the id that access control has seen. */
export function withResourceId({ requirement }: OperationRecord, input: unknown): unknown {
  const path = requirement?.resourceId ?? undefined
  if (path === undefined) return input
  try {
    return readAlong(input, path)
  } catch {
    // What cannot be read is not allowed.
    return input
  }
}

/** Copies the objects on the way to a value. */
function readAlong(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || typeof value !== "object" || value === null) return value
  const item = (value as Readonly<Record<string, unknown>>)[key]
  const copy: object = Array.isArray(value)
    ? [...(value as readonly unknown[])]
    : Object.setPrototypeOf({ ...value }, Object.getPrototypeOf(value) as object | null)
  if (item !== undefined) setOwn(copy, key, readAlong(item, rest))
  return copy
}

/**
 * The validated input for the handler; most are passed on unchanged.
 *
 * Sets `call.ended` if the input is invalid: throwing an error costs as much as making it.
 */
export function admitInput(call: Call, input: unknown): unknown {
  const { record } = call
  if (record.inputIsOpen) return input
  let isChecked = false
  try {
    if (record.inputPasses(input)) return input
    isChecked = true
  } catch {
    // Data that cannot be read: the slow path reports why.
  }
  return prepareInput(call, input, isChecked)
}

/** Whether a vendor is still checking an input; false for an input that is itself a promise. */
export function isStillChecked(call: Call, admitted: unknown): admitted is Promise<unknown> {
  return call.record.vendor !== undefined && admitted instanceof Promise
}

/**
 * Validates an input and fills in its defaults; returns the input for the handler.
 *
 * Returns a promise only for vendors with asynchronous checks. Sets `call.ended` to a `VALIDATION_ERROR` with all
 * validation errors in `details.errors`; a vendor's is thrown.
 */
function prepareInput(call: Call, input: unknown, isChecked: boolean): unknown {
  const { record } = call
  if (record.vendor !== undefined) return vendorInput(call, record, input)
  // An empty object can be omitted if all properties of the input are optional.
  if (input === undefined && record.mayOmitInput && record.input.check({})) return {}
  // Defaults come first: a property that has one may be left out, required or not.
  const defaults = record.inputDefaults
  const hasDefaults = defaults !== null && !defaults.isNoop
  const value = hasDefaults ? defaults.normalize(input).value : input
  // Without defaults, `inputPasses` was this very check.
  const isInvalid = isChecked && !hasDefaults
  if (!isInvalid && record.input.check(value)) return value
  if (value !== input && record.input.check(input)) return input
  if (record.asData !== undefined && matchesAsData(record, value)) return value
  const errors = (): ReturnType<typeof toValueErrors> =>
    toValueErrors(isInvalid ? record.input.validator.explain(value) : record.input.errors(value))
  if (record.warnsOfInput) {
    warnOfMismatch("Input", record, call.kernel, errors, call)
    return value
  }
  call.ended = invalid("VALIDATION_ERROR", `Input for "${record.id}"`, errors(), call)
  return undefined
}

/** Whether an input matches as the JSON data that it stands for. */
function matchesAsData(record: OperationRecord, value: unknown): boolean {
  try {
    const data = record.asData?.(value)
    return data !== value && record.input.check(data)
  } catch {
    return false
  }
}

/** Standard Schema: the vendor's check decides, and the handler gets its result. */
function vendorInput(call: Call, record: OperationRecord, input: unknown): unknown {
  const result = record.vendor?.(input)
  if (result instanceof Promise) {
    return result.then((settled) => vendorValue(call, record, settled))
  }
  return vendorValue(call, record, result)
}

function vendorValue(call: Call, record: OperationRecord, result: unknown): unknown {
  if (typeof result !== "object" || result === null) {
    throw refusal(
      "EXECUTION_ERROR",
      `The input schema of "${record.id}" returned no result when it validated the input.`,
      { operationId: record.id, mayHaveExecuted: false },
    )
  }
  const { issues, value } = result as { issues?: unknown; value?: unknown }
  if (issues === undefined || issues === null) return value
  const list: readonly VendorIssue[] =
    Array.isArray(issues) && issues.length > 0
      ? issues
      : [{ message: "was rejected by its schema" }]
  throw invalid(
    "VALIDATION_ERROR",
    `Input for "${record.id}"`,
    list.map(({ message, path }) => ({ path: pointerOf(path), message: String(message) })),
    call,
  )
}

interface VendorIssue {
  readonly message?: unknown
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

function pointerOf(path: VendorIssue["path"]): string {
  return (path ?? [])
    .map((step) => pointerSegment(String(typeof step === "object" ? step.key : step)))
    .join("")
}
