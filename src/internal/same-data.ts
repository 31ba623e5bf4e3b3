import { isPlainObject } from "./guards.ts"

/** Whether two values are equal data; functions and class instances are compared by identity. */
export function sameData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (!Array.isArray(a) && !isPlainObject(a)) return a instanceof URL && a.href === (b as URL).href
  const keys = definedKeys(a)
  if (keys.length !== definedKeys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && sameData(a[key as never], b[key as never]))
}

function definedKeys(value: object): string[] {
  return Object.keys(value).filter((key) => value[key as never] !== undefined)
}
