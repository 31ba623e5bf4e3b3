/** Whether a value is an object that is neither `null` nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Whether a value is an object or an array, and not `null`. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

/** Whether a value is an object literal, or an object without a prototype. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether a value can be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value instanceof Promise ||
    (typeof value === "object" &&
      value !== null &&
      typeof (value as { then?: unknown }).then === "function")
  )
}

export function isString(value: unknown): value is string {
  return typeof value === "string"
}

/** Whether a value is a string that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}

/** Whether a value is a list of strings. */
export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isString)
}

/** A string that is not empty, or `undefined`. */
export function nonEmpty(value: unknown): string | undefined {
  return isText(value) ? value : undefined
}

/** The strings of a list; nothing for anything else. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(isString) : []
}
