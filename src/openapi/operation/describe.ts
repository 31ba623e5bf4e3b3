import { frozenCopy } from "../../internal/frozen.ts"
import { isPlainRecord } from "../../schema/json.ts"
import type { SchemaNode } from "../schema/convert.ts"

type Raw = Readonly<Record<string, unknown>>

/** A schema with a description of its own. */
export function described(schema: SchemaNode, description: string | undefined): SchemaNode {
  if (description === undefined || typeof schema === "boolean") return schema
  return Object.freeze({ ...schema, description })
}

/** What a parameter says about its value beside the schema. */
export function withParameter(schema: SchemaNode, raw: Raw): SchemaNode {
  const { description, deprecated, example } = raw
  const more: Record<string, unknown> = {}
  if (typeof description === "string" && description !== "") more["description"] = description
  if (deprecated === true) more["deprecated"] = true
  if (example !== undefined && isPlainRecord(schema) && schema["examples"] === undefined) {
    more["examples"] = safeCopy([example])
  }
  if (typeof schema === "boolean" || Object.keys(more).length === 0) return schema
  return Object.freeze({ ...schema, ...more })
}

/** A frozen copy; nothing at all of what is too deep to copy. */
export function safeCopy(value: unknown): unknown {
  try {
    return frozenCopy(value)
  } catch {
    return undefined
  }
}
