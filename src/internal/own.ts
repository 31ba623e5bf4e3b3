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
