import { isRecord } from "../../internal/guards.ts"
import { setOwn } from "../../schema/json.ts"
import type { JsonSchema } from "../../schema/json.ts"
import { eachSubschema } from "../../schema/keywords.ts"
import { flattened } from "./flatten.ts"
import { inlined } from "./inline-schemas.ts"
import type { InputForm } from "./tool-forms.ts"

/** Property names that the strictest model API accepts. */
const LEGAL_KEY = /^[A-Za-z0-9_.-]{1,64}$/

const ROOT_UNIONS = ["anyOf", "oneOf", "allOf", "not", "if", "$ref", "dependentSchemas"] as const

/**
 * Rewrites an input for all model APIs: one object without unions at its root, without
 * references, with plain names.
 *
 * A note describes what the schema no longer expresses; calls are validated as before.
 */
export function portableInput(form: InputForm): InputForm {
  const { schema, note } = flattened(inlined(form.schema))
  const names = renamedKeys(schema)
  const notes = [form.note, note].filter((text) => text !== undefined && text !== "")
  return {
    ...form,
    schema: names.size === 0 ? schema : withKeys(schema, names),
    ...(names.size > 0 && { toInput: (args) => form.toInput(restoreKeys(args, names)) }),
    ...(notes.length > 0 && { note: notes.join(" ") }),
  }
}

/** Reasons for which known clients refuse an input schema or the list that contains it. */
export function unportable(schema: JsonSchema): readonly string[] {
  const reasons = new Set<string>()
  for (const keyword of ROOT_UNIONS) {
    if (keyword in schema) reasons.add(`"${keyword}" at the root`)
  }
  const { properties } = schema
  if (isRecord(properties)) {
    for (const key of Object.keys(properties)) {
      if (!LEGAL_KEY.test(key)) reasons.add(`a property named ${JSON.stringify(key.slice(0, 80))}`)
    }
  }
  lookInto(schema, reasons, 0)
  return [...reasons]
}

function lookInto(schema: JsonSchema, reasons: Set<string>, depth: number): void {
  if (depth > 64) return
  const { $ref, type, items, prefixItems, properties } = schema
  if (typeof $ref === "string" && !$ref.startsWith("#")) {
    reasons.add("a reference to another document")
  }
  if (type === "array" && items === undefined && prefixItems === undefined) {
    reasons.add(`an array without "items"`)
  }
  if (isRecord(properties) && Object.values(properties).includes(false)) {
    reasons.add("a property that is false")
  }
  eachSubschema(schema, (one) => {
    if (typeof one !== "boolean") lookInto(one, reasons, depth + 1)
  })
}

/** Maps new names of root properties to their original names, for those that must be renamed. */
function renamedKeys({ properties }: JsonSchema): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  if (!isRecord(properties)) return names
  const taken = new Set(Object.keys(properties))
  for (const key of Object.keys(properties)) {
    if (LEGAL_KEY.test(key)) continue
    const plain = key.replaceAll(/[^\w.-]+/g, "_").slice(0, 60) || "_"
    let name = plain
    for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`
    taken.add(name)
    names.set(name, key)
  }
  return names
}

function withKeys(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const shown = new Map([...names].map(([name, key]) => [key, name]))
  const properties: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema["properties"] as object)) {
    const name = shown.get(key)
    setOwn(properties, name ?? key, name === undefined ? value : titled(value, key))
  }
  const required: unknown = schema["required"]
  return {
    ...schema,
    properties,
    ...(Array.isArray(required) && {
      required: required.map((key: unknown) => shown.get(String(key)) ?? key),
    }),
  }
}

function titled(schema: unknown, key: string): unknown {
  return isRecord(schema) && schema["title"] === undefined ? { ...schema, title: key } : schema
}

function restoreKeys(
  args: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> {
  const out: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) setOwn(out, names.get(name) ?? name, value)
  return out
}
