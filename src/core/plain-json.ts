import { isPlainObject } from "../internal/guards.ts"

/** Maximum nesting of a value in JSON. */
export const MAX_JSON_DEPTH = 512

/**
 * Whether `JSON.stringify` can encode a value, like most: it has no bytes, files, bigints, functions or cycles.
 *
 * Other values need `encodeValue`, which pages load on use.
 */
export function isPlainJson(value: unknown): boolean {
  try {
    return isLeaf(value) || isPlain(value, [])
  } catch {
    // A getter threw.
    return false
  }
}

/** A value that needs no conversion: null, text, a number, a boolean or `undefined`. */
export function isLeaf(value: unknown): boolean {
  if (value === null) return true
  const type = typeof value
  return type !== "object" && type !== "bigint" && type !== "function"
}

function isPlain(value: unknown, parents: object[]): boolean {
  if (typeof value !== "object" || value === null || parents.includes(value)) return false
  const { stream, toJSON } = value as { readonly stream?: unknown; readonly toJSON?: unknown }
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return false
  if (typeof stream === "function" || parents.length >= MAX_JSON_DEPTH) return false
  if (typeof toJSON === "function") return true
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let isListed = false
  for (let at = 0; at < items.length; at++) {
    if (isLeaf(items[at])) continue
    // Most objects have only leaves.
    if (!isListed) parents.push(value)
    isListed = true
    if (!isPlain(items[at], parents)) return false
  }
  if (isListed) parents.pop()
  return true
}

/** A copy of a value and the bytes in it, for a message that is sent later; the value itself where it has cycles. */
export function snapshot(value: unknown): unknown {
  try {
    return copyOf(value)
  } catch {
    return value
  }
}

function copyOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value)
  if (value instanceof ArrayBuffer) return value.slice(0)
  if (Array.isArray(value)) return value.map(copyOf)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)]))
}
