/** A schema in its object form; the boolean forms are turned into `{}` and `{ not: {} }` at the root. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Whether a value is an object that is neither `null` nor an array. */
export function isPlainRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Whether a value can stand where a schema is expected. */
export function isSchema(value: unknown): value is Record<string, unknown> | boolean {
  return typeof value === "boolean" || isPlainRecord(value)
}

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

/** An own property, or `undefined`; a name such as `toString` does not find the inherited one. */
export function getOwn(target: object, key: string): unknown {
  return Object.hasOwn(target, key) ? (target as Record<string, unknown>)[key] : undefined
}

/** A JSON pointer one step longer. */
export function childPointer(pointer: string, token: string | number): string {
  return `${pointer}/${typeof token === "number" ? token : escapeToken(token)}`
}

/** One reference token as it is written in a JSON pointer. */
export function escapeToken(token: string): string {
  const escaped = token.includes("~") ? token.replaceAll("~", "~0") : token
  return escaped.includes("/") ? escaped.replaceAll("/", "~1") : escaped
}

/** The tokens of a JSON pointer; `undefined` when it does not start with a slash. */
export function pointerTokens(pointer: string): string[] | undefined {
  if (pointer === "") return []
  if (!pointer.startsWith("/")) return undefined
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** Freezes plain data all the way down. */
export function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const child of Object.values(value)) deepFreeze(child)
}
