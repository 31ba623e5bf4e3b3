import { setOwn } from "../json.ts"

/**
 * Whether an object is JSON data rather than an instance of something.
 *
 * Objects of another realm (an iframe, a vm context) have that realm's `Object.prototype`.
 */
export function isDataObject(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value)
  if (proto === Object.prototype || proto === null) return true
  if (Object.getPrototypeOf(proto) !== null) return false
  const maker: unknown = (proto as { constructor?: unknown }).constructor
  return typeof maker === "function" && maker.name === "Object"
}

/**
 * Whether an object can be copied without losing anything.
 *
 * A copy made of enumerable keys would drop hidden ones, so such an object is left as it is.
 */
export function isCopyableObject(value: object): boolean {
  return (
    isDataObject(value) && Object.getOwnPropertyNames(value).length === Object.keys(value).length
  )
}

/** Whether an array has no holes, no further properties and no class of its own. */
export function isCopyableArray(value: readonly unknown[]): boolean {
  // `Array.prototype` is itself an array, in every realm; the prototype of a subclass is not.
  if (!Array.isArray(Object.getPrototypeOf(value))) return false
  const keys = Object.keys(value)
  const { length } = value
  return keys.length === length && (length === 0 || keys[length - 1] === String(length - 1))
}

/** A shallow copy of the keys before `stop`, or of all; symbols come along. */
export function copyUntil(value: Record<string, unknown>, stop?: string): Record<string, unknown> {
  const bare = Object.getPrototypeOf(value) === null
  const copy = (bare ? Object.create(null) : {}) as Record<PropertyKey, unknown>
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    copy[symbol] = (value as Record<PropertyKey, unknown>)[symbol]
  }
  for (const key of Object.keys(value)) {
    if (key === stop) break
    setOwn(copy, key, value[key])
  }
  return copy
}

/** A fresh, mutable copy of JSON data. */
export function cloneJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson)
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    setOwn(copy, key, cloneJson((value as Record<string, unknown>)[key]))
  }
  return copy
}
