import type { JsonObject } from "../mcp/model.ts"
import { isRecord } from "../internal/guards.ts"
import { listOf, setOwn, type JsonSchema } from "../schema/json.ts"
import { eachSubschema, IN_PLACE } from "../schema/keywords.ts"
import { ownValues } from "../schema/read/values.ts"
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

function restoreKeys(args: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const out: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) setOwn(out, names.get(name) ?? name, value)
  return out
}

/** One object schema in place of several, and a note about what it no longer expresses. */
interface Flattened {
  readonly schema: JsonSchema
  readonly note: string | undefined
}

interface Shape {
  readonly properties: JsonObject
  readonly required: readonly string[]
  /** The allowed combinations of inputs, in words. */
  readonly notes: readonly string[]
}

/** Keywords at the root that add properties. */
const FOLDED: ReadonlySet<string> = new Set([
  ...IN_PLACE,
  ...["dependentRequired", "properties", "required"],
])

const MAX_DEPTH = 16
const MAX_WAYS = 12

/** Flattens the root of a schema to one object with the properties of all alternatives. */
export function flattened(schema: JsonSchema): Flattened {
  if (!["anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas"].some((one) => one in schema)) {
    return { schema, note: undefined }
  }
  const { properties, required, notes } = shapeOf(schema, 0)
  const kept = Object.entries(schema).filter(([keyword]) => !FOLDED.has(keyword))
  const out: Record<string, unknown> = Object.fromEntries(kept)
  out["type"] = "object"
  out["properties"] = properties
  if (required.length > 0) out["required"] = required
  return { schema: out, note: notes.length > 0 ? notes.join(" ") : undefined }
}

function shapeOf(schema: unknown, depth: number): Shape {
  if (!isRecord(schema) || depth > MAX_DEPTH) return { properties: {}, required: [], notes: [] }
  const properties: Record<string, unknown> = {}
  if (isRecord(schema["properties"])) addAll(properties, schema["properties"], "both")
  const required = new Set(listOf(schema["required"]).filter((one) => typeof one === "string"))
  const notes: string[] = []
  for (const part of listOf(schema["allOf"])) {
    const shape = shapeOf(part, depth + 1)
    addAll(properties, shape.properties, "both")
    for (const key of shape.required) required.add(key)
    notes.push(...shape.notes)
  }
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const ways = listOf(schema[keyword]).map((part) => shapeOf(part, depth + 1))
    if (ways.length === 0) continue
    for (const way of ways) addAll(properties, way.properties, "either")
    for (const key of commonOf(ways)) required.add(key)
    notes.push(waysInWords(ways, keyword === "oneOf"))
  }
  const dependent = isRecord(schema["dependentSchemas"]) ? schema["dependentSchemas"] : {}
  // Conditional properties become optional ones.
  for (const part of [schema["then"], schema["else"], ...Object.values(dependent)]) {
    addAll(properties, shapeOf(part, depth + 1).properties, "either")
  }
  return { properties, required: [...required], notes }
}

/** `both`: a value has to fit each schema of its name; `either`: one of them. */
function addAll(target: Record<string, unknown>, source: JsonObject, how: "both" | "either"): void {
  for (const [key, schema] of Object.entries(source)) {
    const existing = Object.hasOwn(target, key) ? target[key] : undefined
    setOwn(target, key, existing === undefined ? schema : merged(existing, schema, how))
  }
}

function merged(first: unknown, other: unknown, how: "both" | "either"): unknown {
  if (JSON.stringify(first) === JSON.stringify(other)) return first
  if (isOpen(first)) return how === "both" ? other : first
  if (isOpen(other)) return how === "both" ? first : other
  if (how === "both") return { allOf: [first, other] }
  const values = [valuesOf(first), valuesOf(other)]
  if (values[0] !== undefined && values[1] !== undefined) {
    const { const: _, enum: __, ...rest } = first as JsonSchema
    return { ...rest, enum: [...new Set([...values[0], ...values[1]])] }
  }
  const ways =
    isRecord(first) && Object.keys(first).join() === "anyOf" ? listOf(first["anyOf"]) : [first]
  return { anyOf: [...ways, other] }
}

function isOpen(schema: unknown): boolean {
  return isRecord(schema) && Object.keys(schema).length === 0
}

function valuesOf(schema: unknown): readonly unknown[] | undefined {
  return isRecord(schema) ? ownValues(schema) : undefined
}

function commonOf(ways: readonly Shape[]): readonly string[] {
  const [first, ...others] = ways
  return (first?.required ?? []).filter((key) =>
    others.every(({ required }) => required.includes(key)),
  )
}

function waysInWords(ways: readonly Shape[], isExactlyOne: boolean): string {
  const texts = ways.slice(0, MAX_WAYS).map(({ properties, required }, index) => {
    const names = new Set([...required, ...Object.keys(properties)])
    const inputs = [...names].map((name) => inputInWords(name, properties, required))
    return `(${index + 1}) ${inputs.join(", ") || "nothing more"}`
  })
  if (ways.length > MAX_WAYS) texts.push(`and ${ways.length - MAX_WAYS} more`)
  return `Give ${isExactlyOne ? "exactly one" : "one"} of these sets of inputs: ${texts.join("; ")}.`
}

function inputInWords(name: string, properties: JsonObject, required: readonly string[]): string {
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
  const values = valuesOf(schema)
  const word = required.includes(name) ? name : `${name}?`
  if (values === undefined || values.length > 4) return word
  return `${word} = ${values.map((value) => JSON.stringify(value)).join(" | ")}`
}
