/** A schema in its object form. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Whether a value is an object that is neither `null` nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** An own property, or `undefined`; a name such as `toString` does not find the inherited one. */
export function getOwn(target: object, key: string): unknown {
  return Object.hasOwn(target, key) ? (target as Record<string, unknown>)[key] : undefined
}

/** Sets an own property; a plain assignment to `__proto__` would change the prototype instead. */
export function setOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

/** A list, or an empty one where there is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

/** A text that is not empty, or `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined
}

/** A value as JSON in one line, cut at a readable length. */
export function jsonText(value: unknown, most = 200): string {
  const text = (JSON.stringify(value) as string | undefined) ?? "undefined"
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** Whether a value is an object with anything in it; a large one is not listed for that. */
export function hasKeys(value: unknown): boolean {
  if (!isRecord(value)) return false
  for (const key in value) if (Object.hasOwn(value, key)) return true
  return false
}
