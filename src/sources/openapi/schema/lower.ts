import { setOwn } from "../../../schema/json.ts"
import { itemsAt, objectAt, type ObjectPlace, type Place, type Raw } from "../document.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { SchemaNode } from "./definition.ts"

type Mutable = Record<string, unknown>

/** Whether a schema declares raw bytes, in any of the common ways. */
export function isBinary(raw: Raw): boolean {
  const { type } = raw
  if (type === "file") return true
  const text = type === "string" || (Array.isArray(type) && type.includes("string"))
  if (!text && type !== undefined) return false
  if (raw["format"] === "binary") return true
  const { contentMediaType: media, contentEncoding } = raw
  if (typeof media !== "string" || contentEncoding !== undefined) return false
  if (media === "application/octet-stream") return true
  // As of OpenAPI 3.1, a schema of an image without a type describes its bytes.
  return type === undefined && /^(?:audio|font|image|video)\//.test(media)
}

/** A copy-on-write object: the source itself until the first change. */
export class Draft {
  readonly #source: Raw
  #copy: Record<string, unknown> | undefined = undefined
  #dropped: Set<string> | undefined = undefined

  constructor(source: Raw) {
    this.#source = source
  }

  set(key: string, value: unknown): void {
    this.#dropped?.delete(key)
    if (this.#copy === undefined) {
      if (this.#source[key] === value) return
      // A spread is much cheaper than copying key by key, and `__proto__` stays a property.
      this.#copy = { ...this.#source }
    }
    this.#copy[key] = value
  }

  get(key: string): unknown {
    return (this.#copy ?? this.#source)[key]
  }

  drop(key: string): void {
    ;(this.#dropped ??= new Set()).add(key)
  }

  finish(): Raw {
    const whole = this.#copy ?? this.#source
    if (this.#dropped === undefined) return whole
    const out: Record<string, unknown> = {}
    for (const key of Object.keys(whole)) {
      if (!this.#dropped.has(key)) setOwn(out, key, whole[key])
    }
    return out
  }
}

/** Converts the old `minimum: 3, exclusiveMinimum: true` to `exclusiveMinimum: 3`. */
export function exclusive(raw: Raw, draft: Draft, keyword: string): void {
  const limit = keyword === "exclusiveMinimum" ? "minimum" : "maximum"
  if (raw[keyword] !== true || !isNumber(raw[limit])) {
    draft.drop(keyword)
    return
  }
  draft.set(keyword, raw[limit])
  draft.drop(limit)
}

/**
 * Widens a schema of which a part was widened: under these keywords a wider part would make the whole
 * narrower.
 */
export function loosen(keyword: string, raw: Raw, draft: Draft): void {
  switch (keyword) {
    case "not":
    case "if":
      draft.drop(keyword)
      break
    case "contains":
      draft.drop("maxContains")
      break
    case "oneOf":
      // Two of them may match now.
      if (raw["anyOf"] === undefined) draft.set("anyOf", draft.get(keyword))
      draft.drop(keyword)
      break
  }
}

const UNIONS = ["allOf", "anyOf", "oneOf", "not", "const", "$ref"] as const
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...["title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"],
])
const NULL: SchemaNode = Object.freeze({ type: "null" })

/** Applies `nullable: true`, also beside `enum`, `allOf` or a reference, as documents intend. */
export function orNull(out: Mutable): SchemaNode {
  const { type } = out
  if (type !== undefined && !UNIONS.some((keyword) => keyword in out)) {
    const types = Array.isArray(type) ? (type as unknown[]) : [type]
    if (!types.includes("null")) out["type"] = [...types, "null"]
    const values = out["enum"]
    if (Array.isArray(values) && !values.includes(null)) {
      out["enum"] = [...values, null]
    }
    return out
  }
  const inner: Mutable = {}
  const outer: Mutable = {}
  let decides = false
  for (const key of Object.keys(out)) {
    if (ANNOTATIONS.has(key)) outer[key] = out[key]
    else {
      setOwn(inner, key, out[key])
      decides = true
    }
  }
  if (!decides) return out
  outer["anyOf"] = [inner, NULL]
  return outer
}

/** Whether a schema may be null by the keyword of 3.0, or its older spelling. */
export function isNullable(raw: Raw): boolean {
  return (raw["nullable"] ?? raw["x-nullable"]) === true
}

/** The reference of a schema that has no other members. */
export function onlyRef(raw: unknown): string | undefined {
  if (!isRecord(raw)) return undefined
  const ref = raw["$ref"]
  if (typeof ref !== "string") return undefined
  for (const key in raw) if (key !== "$ref") return undefined
  return ref
}

/** Whether a value is a number that JSON can represent. */
export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}

/**
 * A schema and the members of its `allOf`, which come first, with references resolved, each once; `undefined` for one
 * that cannot be resolved or contains itself.
 */
export function allOfParts(schema: Place | undefined): (ObjectPlace | undefined)[] {
  const parts: (ObjectPlace | undefined)[] = []
  const seen = new Map<Raw, "open" | "done">()
  const visit = (at: Place | undefined, depth: number): void => {
    const place = depth > MAX_NESTED ? undefined : objectAt(at)
    const state = place && seen.get(place.value)
    if (state === "done") return
    if (place === undefined || state === "open") parts.push(undefined)
    else {
      seen.set(place.value, "open")
      for (const member of itemsAt(place, "allOf")) visit(member, depth + 1)
      seen.set(place.value, "done")
      parts.push(place)
    }
  }
  visit(schema, 0)
  return parts
}

const MAX_NESTED = 16
