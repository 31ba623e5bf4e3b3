import {
  isRecord,
  isSchema,
  namedSchemas,
  own,
  schemasUnder,
  setOwn,
  stringsUnder,
  typesOf,
} from "./json.ts"
import type { JsonRecord, JsonSchema } from "./json.ts"
import { merged } from "./merge.ts"

/** The initial value of a form: required values and defaults. Bounded, because schemas may be recursive. */
export function initialValue(root: JsonSchema, schema: JsonSchema = root): unknown {
  return fill(root, schema, { examples: false, depth: 0 })
}

/** An input that shows what belongs where: examples, defaults, and a plain value for the rest. */
export function exampleValue(root: JsonSchema, schema: JsonSchema = root): unknown {
  return fill(root, schema, { examples: true, depth: 0 }) ?? null
}

/** The examples that a schema gives for a whole value. */
export function examplesOf(schema: JsonSchema): readonly unknown[] {
  const examples = own(schema, "examples")
  const example = own(schema, "example")
  return [...(Array.isArray(examples) ? examples : []), ...(example === undefined ? [] : [example])]
}

interface Filling {
  readonly examples: boolean
  readonly depth: number
}

const MAX_DEPTH = 6
const MAX_PROPERTIES = 200

function fill(root: JsonSchema, source: JsonSchema, how: Filling): unknown {
  const schema = merged(root, source)
  if (schema === undefined || how.depth > MAX_DEPTH) return undefined
  const fixed = own(schema, "const")
  if (fixed !== undefined) return fixed
  if (how.examples) {
    const [example] = examplesOf(schema)
    if (example !== undefined) return example
  }
  const preset = own(schema, "default")
  if (preset !== undefined) return preset
  const values = own(schema, "enum")
  if (Array.isArray(values) && (how.examples || values.length === 1)) return values[0] as unknown
  return fillByType(root, schema, how)
}

function fillByType(root: JsonSchema, schema: JsonRecord, how: Filling): unknown {
  const [union] = [...schemasUnder(schema, "oneOf"), ...schemasUnder(schema, "anyOf")]
  const type = typesOf(schema).find((one) => one !== "null") ?? typesOf(schema)[0]
  if (type === "object" || (type === undefined && isRecord(own(schema, "properties")))) {
    return fillObject(root, schema, how, union)
  }
  if (union !== undefined && (how.examples || type === undefined)) {
    const branch = isRecord(union) && type !== undefined ? { type, ...union } : union
    return fill(root, branch, { ...how, depth: how.depth + 1 })
  }
  if (type === "array") return fillArray(root, schema, how)
  if (!how.examples) return undefined
  return scalar(schema, type)
}

function fillObject(
  root: JsonSchema,
  schema: JsonRecord,
  how: Filling,
  union: JsonSchema | undefined,
): unknown {
  const required = new Set(stringsUnder(schema, "required"))
  const filled = {}
  const below = { ...how, depth: how.depth + 1 }
  for (const [name, child] of namedSchemas(schema, "properties").slice(0, MAX_PROPERTIES)) {
    if (own(child, "readOnly") === true) continue
    if (!required.has(name) && !isOffered(root, child, how)) continue
    // An unticked box means false already.
    const value = fill(root, child, below) ?? (isBoolean(root, child) ? false : undefined)
    if (value !== undefined) setOwn(filled, name, value)
  }
  const chosen = union === undefined ? undefined : merged(root, union)
  if (chosen !== undefined && how.depth < MAX_DEPTH) {
    const more = fillObject(root, chosen, below, undefined)
    for (const [name, value] of Object.entries(isRecord(more) ? more : {}))
      setOwn(filled, name, value)
  }
  return filled
}

function isBoolean(root: JsonSchema, child: JsonSchema): boolean {
  const schema = merged(root, child)
  return schema !== undefined && own(schema, "type") === "boolean"
}

/** Whether an optional property is filled: in an example what has one, at the start plain defaults. */
function isOffered(root: JsonSchema, child: JsonSchema, how: Filling): boolean {
  const schema = merged(root, child)
  if (schema === undefined) return false
  if (how.examples) return examplesOf(schema).length > 0 || own(schema, "default") !== undefined
  const preset = own(schema, "default")
  return preset !== undefined && preset !== null
}

function fillArray(root: JsonSchema, schema: JsonRecord, how: Filling): unknown {
  const prefix = schemasUnder(schema, "prefixItems")
  const below = { ...how, depth: how.depth + 1 }
  if (prefix.length > 0)
    return prefix.slice(0, 50).map((item) => fill(root, item, below) ?? emptyOf(root, item))
  const least = own(schema, "minItems")
  const wanted = Math.min(typeof least === "number" && least > 0 ? least : how.examples ? 1 : 0, 5)
  const items = own(schema, "items")
  if (wanted === 0 || !isSchema(items)) return []
  const item = fill(root, items, below) ?? (how.examples ? undefined : emptyOf(root, items))
  return item === undefined ? [] : Array.from({ length: wanted }, () => structuredClone(item))
}

/** The initial value of a new item without a default. */
export function emptyOf(root: JsonSchema, source: JsonSchema): unknown {
  const filled = fill(root, source, { examples: false, depth: 1 })
  if (filled !== undefined) return filled
  const schema = merged(root, source)
  const values = own(schema, "enum")
  if (Array.isArray(values)) return values[0] as unknown
  const type = schema === undefined ? undefined : typesOf(schema).find((one) => one !== "null")
  if (type === "number" || type === "integer") return leastNumber(schema)
  if (type === "boolean") return false
  if (type === "object") return {}
  if (type === "array") return []
  return schema !== undefined && typesOf(schema)[0] === "null" ? null : ""
}

const TEXTS: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "someone@example.com",
  uri: "https://example.com/",
  "uri-reference": "/path",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "00000000-0000-4000-8000-000000000000",
}

function scalar(schema: JsonRecord, type: string | undefined): unknown {
  if (type === "boolean") return true
  if (type === "number" || type === "integer") return leastNumber(schema)
  if (type === "null") return null
  if (type !== "string") return undefined
  const format = own(schema, "format")
  if (typeof format === "string" && Object.hasOwn(TEXTS, format)) return TEXTS[format]
  const least = own(schema, "minLength")
  return "text".padEnd(typeof least === "number" ? Math.min(least, 1000) : 0, "x")
}

function leastNumber(schema: JsonSchema | undefined): number {
  const least = own(schema, "minimum")
  const above = own(schema, "exclusiveMinimum")
  if (typeof least === "number") return least
  return typeof above === "number" ? Math.floor(above) + 1 : 0
}
