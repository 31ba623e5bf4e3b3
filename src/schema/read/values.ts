import { isRecord } from "../../internal/guards.ts"
import { type JsonSchema, listOf } from "../json.ts"
import type { Flat, Union } from "./flatten.ts"

const WORDS = new Set(["title", "description", "type", "const", "enum", "$comment", "deprecated"])

/** The only values that are allowed, `undefined` where others are too. */
export function valuesOf(flat: Flat): readonly unknown[] | undefined {
  for (const { schema } of flat.layers) {
    const own = ownValues(schema)
    if (own !== undefined) return own
  }
  const [union, ...others] = flat.unions
  return union === undefined || others.length > 0 ? undefined : literalsOf(union)
}

/** The values of a choice among literals, which is how some libraries write an enum. */
function literalsOf({ parts }: Union): readonly unknown[] | undefined {
  const values: unknown[] = []
  for (const { schema } of parts) {
    // The descriptions of values would be lost in a list.
    if (!isRecord(schema) || schema["description"] !== undefined) return undefined
    const own = ownValues(schema)
    if (own === undefined || !Object.keys(schema).every((key) => WORDS.has(key))) return undefined
    values.push(...own)
  }
  return [...new Set(values)]
}

/** The values that one schema lists. */
export function ownValues(schema: JsonSchema): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, "const")) return [schema["const"]]
  return Array.isArray(schema["enum"]) ? listOf(schema["enum"]) : undefined
}
