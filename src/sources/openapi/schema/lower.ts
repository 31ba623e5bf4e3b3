import { setOwn } from "../../../schema/json.ts"
import type { SchemaNode } from "./model.ts"
import type { Draft } from "./draft.ts"

type Raw = Readonly<Record<string, unknown>>
type Mutable = Record<string, unknown>

/** Raw bytes, in any of the ways in which documents say so. */
export function isBinary(raw: Raw): boolean {
  const { type } = raw
  if (type === "file") return true
  const text = type === "string" || (Array.isArray(type) && type.includes("string"))
  if (!text && type !== undefined) return false
  if (raw["format"] === "binary") return true
  return (
    raw["contentMediaType"] === "application/octet-stream" && raw["contentEncoding"] === undefined
  )
}

/** `minimum: 3, exclusiveMinimum: true` of old is `exclusiveMinimum: 3` today. */
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
 * Changes a schema one part of which accepts more than the document says, so that all of it does too:
 * under these keywords more for a part would be less for the whole.
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
      // Two of them may fit now.
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

/** `nullable: true`: also beside `enum`, `allOf` or a reference, where documents mean it too. */
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

/** A number that JSON could have said. */
export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}
