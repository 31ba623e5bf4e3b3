import { frozenCopy } from "../../../internal/frozen.ts"
import { isPlainRecord, setOwn } from "../../../schema/json.ts"
import type { SchemaNode } from "../schema/model.ts"
import { isBottomless } from "../shape.ts"

type Raw = Readonly<Record<string, unknown>>

/** A schema with a description of its own. */
export function described(schema: SchemaNode, description: string | undefined): SchemaNode {
  if (description === undefined || typeof schema === "boolean") return schema
  return { ...schema, description }
}

/** What a parameter says about its value beside the schema. */
export function withParameter(schema: SchemaNode, raw: Raw): SchemaNode {
  const { description, deprecated, example } = raw
  const says = typeof description === "string" && description !== ""
  const shows = example !== undefined && isPlainRecord(schema) && schema["examples"] === undefined
  if (typeof schema === "boolean" || (!says && deprecated !== true && !shows)) return schema
  // Swagger 2.0 has both in one object.
  if (says && !shows && deprecated !== true && schema["description"] === description) return schema
  // Key by key: most have few, and thousands of these fit into half of what a spread would take.
  const out: Record<string, unknown> = {}
  const keys = Object.keys(schema)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    setOwn(out, key, schema[key])
  }
  if (says) out["description"] = description
  if (deprecated === true) out["deprecated"] = true
  if (shows) out["examples"] = safeCopy([example])
  return out
}

/** A frozen copy; nothing at all of what is too deep to copy. */
export function safeCopy(value: unknown): unknown {
  return isBottomless(value) ? undefined : frozenCopy(value)
}

/** A version, where it is one that operations can have. */
export function versionText(version: unknown): string | undefined {
  const text = typeof version === "string" || typeof version === "number" ? `${version}`.trim() : ""
  const fits = /^v?\d+(?:\.\d+){0,3}(?:[-+.][0-9A-Za-z.+-]+)?$/.test(text) && text.length <= 128
  return fits ? text : undefined
}
