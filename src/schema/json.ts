import { isRecord } from "../internal/guards.ts"

export { setOwn } from "../internal/own.ts"

/** A schema in its object form; the boolean forms are turned into `{}` and `{ not: {} }` at the root. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** The JSON type of a value. */
export function jsonType(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

/** Whether a value has a type of JSON Schema, or one that TypeBox adds. */
export function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value)
  if (type === "number") return Number.isFinite(value)
  if (type === "void") return value === undefined
  return jsonType(value) === type
}

const EVERY_TYPE = /* @__PURE__ */ Object.freeze([
  "null",
  "boolean",
  "object",
  "array",
  "number",
  "string",
])

/** The types of JSON Schema. */
export const JSON_TYPES: ReadonlySet<unknown> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ EVERY_TYPE.concat("integer"),
)

/**
 * The schema of a result without a value: valid JSON Schema that no JSON value matches, but `undefined`
 * does.
 */
export const NO_VALUE: JsonSchema = /* @__PURE__ */ Object.freeze({
  not: /* @__PURE__ */ Object.freeze({ type: EVERY_TYPE }),
})

/** Whether a schema describes the absence of a value: {@link NO_VALUE}, or TypeBox's `Type.Void()`. */
export function isNoValue(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  const { type, not } = schema
  if (type !== undefined) return type === "void" || type === "undefined"
  const excluded: unknown = isRecord(not) ? not["type"] : undefined
  return Array.isArray(excluded) && EVERY_TYPE.every((one) => excluded.includes(one))
}

/** Leaving the value out is fine. */
export function mayBeVoid(schema: JsonSchema): boolean {
  const { anyOf } = schema
  return isNoValue(schema) || (Array.isArray(anyOf) && anyOf.some(isNoValue))
}

/** Whether a value can be used as a schema. */
export function isSchema(value: unknown): value is Record<string, unknown> | boolean {
  return typeof value === "boolean" || isRecord(value)
}

/** An own property, or `undefined`; a name such as `toString` does not find the inherited one. */
export function getOwn(target: object, key: string): unknown {
  return Object.hasOwn(target, key) ? (target as Record<string, unknown>)[key] : undefined
}

/** A list, or an empty one where there is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

/** A text that is not blank, or `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined
}

/** Whether a value is an object with members; a large one is not listed for that. */
export function hasKeys(value: unknown): boolean {
  if (!isRecord(value)) return false
  for (const key in value) if (Object.hasOwn(value, key)) return true
  return false
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
