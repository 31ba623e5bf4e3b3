import { frozenCopy } from "../../../internal/frozen.ts"
import { isRecord } from "../../../internal/guards.ts"
import { setOwn } from "../../../schema/json.ts"
import type { SchemaNode } from "../schema/model.ts"
import { isTooDeepToPrint } from "../size-limits.ts"
import type { Raw } from "../document.ts"

/** Sets the description of a schema. */
export function described(schema: SchemaNode, description: string | undefined): SchemaNode {
  if (description === undefined || typeof schema === "boolean") return schema
  return { ...schema, description }
}

/** Adds the description, example and deprecation of a parameter to its schema. */
export function withParameter(schema: SchemaNode, raw: Raw): SchemaNode {
  const { description, deprecated, example } = raw
  const hasDescription = typeof description === "string" && description !== ""
  const hasExample = example !== undefined && isRecord(schema) && schema["examples"] === undefined
  if (typeof schema === "boolean" || (!hasDescription && deprecated !== true && !hasExample))
    return schema
  // Swagger 2.0 has both in one object.
  if (hasDescription && !hasExample && deprecated !== true && schema["description"] === description)
    return schema
  // Copied key by key: with few keys this takes half the memory of a spread, for thousands of schemas.
  const out: Record<string, unknown> = {}
  const keys = Object.keys(schema)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    setOwn(out, key, schema[key])
  }
  if (hasDescription) out["description"] = description
  if (deprecated === true) out["deprecated"] = true
  if (hasExample) out["examples"] = safeCopy([example])
  return out
}

/** A frozen copy; `undefined` if the value is too deep to copy. */
export function safeCopy(value: unknown): unknown {
  return isTooDeepToPrint(value) ? undefined : frozenCopy(value)
}

/** A version, if it is valid for operations. */
export function versionText(version: unknown): string | undefined {
  const text = typeof version === "string" || typeof version === "number" ? `${version}`.trim() : ""
  const fits = /^v?\d+(?:\.\d+){0,3}(?:[-+.][0-9A-Za-z.+-]+)?$/.test(text) && text.length <= 128
  return fits ? text : undefined
}
