/** Sets an own property; a plain assignment to `__proto__` would change the prototype instead. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
    return
  }
  ;(target as Record<string, unknown>)[key] = value
}

/** A copy without the members that are `undefined`. */
export function withoutUndefined<TValue extends object>(
  value: TValue,
): { [TKey in keyof TValue]?: NonNullable<TValue[TKey]> } {
  const defined = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(defined) as { [TKey in keyof TValue]?: NonNullable<TValue[TKey]> }
}
