import { quote, reasonOf } from "../internal/message-text.ts"
import { setOwn } from "./json.ts"
import { applyAction, isJson, isValibotSchema, unsupported } from "./valibot/actions.ts"
import type { Json, Side, ValibotNode } from "./valibot/actions.ts"

export { isValibotSchema } from "./valibot/actions.ts"

const MAX_DEPTH = 200
/** Transformations that leave the value as it is. */
const KEEPING: ReadonlySet<string> = new Set(["brand", "flavor", "readonly", "guard"])
const MAY_BE_ABSENT: ReadonlySet<string> = new Set(["optional", "exact_optional", "nullish"])

/**
 * One side of a raw Valibot schema as JSON Schema 2020-12.
 *
 * Checks that only a function can express (`v.check`) are left out, as other libraries leave out theirs: the
 * result accepts what they would refuse. A type that JSON does not have, or the result of a transform that
 * nothing describes, throws a `TypeError` that names it.
 */
export function valibotJsonSchema(schema: ValibotNode, side: Side): Json {
  return new Conversion(side).convert(schema)
}

class Conversion {
  readonly #side: Side
  readonly #defs: Json = {}
  /** Where a `lazy` leads: its schema by getter, its definition by schema. */
  readonly #targets = new Map<unknown, ValibotNode>()
  readonly #names = new Map<ValibotNode, string>()
  #depth = 0

  constructor(side: Side) {
    this.#side = side
  }

  convert(schema: ValibotNode): Json {
    const json = this.#schema(schema)
    return this.#names.size === 0 ? json : { ...json, $defs: this.#defs }
  }

  #schema(schema: unknown): Json {
    if (!isValibotSchema(schema)) {
      throw new TypeError(`A Valibot schema was expected, got ${quote(schema)}.`)
    }
    if (++this.#depth > MAX_DEPTH) {
      throw new TypeError(
        `This Valibot schema is nested deeper than ${MAX_DEPTH} levels; let v.lazy() return the same schema each time.`,
      )
    }
    try {
      const [base, ...actions] = stepsOf(schema, this.#side)
      return actions.reduce(applyAction, this.#plain(base))
    } finally {
      this.#depth--
    }
  }

  #plain(schema: ValibotNode): Json {
    switch (schema.type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return { type: schema.type }
      case "any":
      case "unknown":
        return {}
      case "never":
        return { not: {} }
      case "literal":
        return { const: constantOf(schema, schema["literal"]) }
      case "picklist":
      case "enum":
        return { enum: list(schema, "options").map((option) => constantOf(schema, option)) }
      case "array":
        return { type: "array", items: this.#schema(schema["item"]) }
      case "tuple":
      case "loose_tuple":
      case "strict_tuple":
      case "tuple_with_rest":
        return this.#tuple(schema)
      case "object":
      case "loose_object":
      case "strict_object":
      case "object_with_rest":
        return this.#object(schema)
      case "record":
        return this.#record(schema)
      case "union":
      case "variant":
        return { anyOf: list(schema, "options").map((option) => this.#schema(option)) }
      case "intersect":
        return { allOf: list(schema, "options").map((option) => this.#schema(option)) }
      case "optional":
      case "exact_optional":
      case "undefinedable":
        return this.#withDefault(schema, this.#schema(schema["wrapped"]))
      case "nullable":
      case "nullish":
        return this.#nullable(schema)
      case "non_optional":
        return this.#schema(schema["wrapped"])
      case "non_nullable":
      case "non_nullish":
        return { allOf: [this.#schema(schema["wrapped"])], not: { type: "null" } }
      case "lazy":
        return this.#lazy(schema)
      default:
        throw unsupported(schema)
    }
  }

  #tuple(schema: ValibotNode): Json {
    const prefixItems = list(schema, "items").map((item) => this.#schema(item))
    const json: Json = { type: "array", prefixItems, minItems: prefixItems.length }
    if (schema.type === "strict_tuple") json["maxItems"] = prefixItems.length
    // A plain tuple accepts further items and drops them.
    if (schema.type === "tuple" && this.#side === "output") json["maxItems"] = prefixItems.length
    if (schema.type === "tuple_with_rest") json["items"] = this.#schema(schema["rest"])
    return json
  }

  #object(schema: ValibotNode): Json {
    const properties: Json = {}
    const required: string[] = []
    for (const [key, entry] of Object.entries(schema["entries"] as Record<string, unknown>)) {
      setOwn(properties, key, this.#schema(entry))
      if (!this.#mayBeAbsent(entry as ValibotNode)) required.push(key)
    }
    const json: Json = { type: "object", properties, required }
    if (schema.type === "strict_object") json["additionalProperties"] = false
    if (schema.type === "loose_object") json["additionalProperties"] = true
    if (schema.type === "object_with_rest") {
      json["additionalProperties"] = this.#schema(schema["rest"])
    }
    return json
  }

  #record(schema: ValibotNode): Json {
    const propertyNames = this.#schema(schema["key"])
    const values = { type: "object", additionalProperties: this.#schema(schema["value"]) }
    const isAnyText = Object.keys(propertyNames).join() === "type"
    return isAnyText ? values : { ...values, propertyNames }
  }

  #nullable(schema: ValibotNode): Json {
    const wrapped = this.#schema(schema["wrapped"])
    // The output has the default in place of `null`.
    if (this.#side === "output" && (schema["default"] ?? null) !== null) return wrapped
    return this.#withDefault(schema, { anyOf: [wrapped, { type: "null" }] })
  }

  #withDefault(schema: ValibotNode, json: Json): Json {
    const value = schema["default"]
    // A default is an input, before any transform. That of a function may differ each time, so it is left out.
    if (this.#side === "output" || value === undefined || !isJson(value)) return json
    return { ...json, default: value }
  }

  #mayBeAbsent(entry: ValibotNode): boolean {
    const [base] = stepsOf(entry, this.#side)
    if (!MAY_BE_ABSENT.has(base.type)) return false
    return this.#side === "input" || base["default"] === undefined
  }

  #lazy(schema: ValibotNode): Json {
    const target = this.#targets.get(schema["getter"]) ?? lazyTarget(schema)
    this.#targets.set(schema["getter"], target)
    let name = this.#names.get(target)
    if (name === undefined) {
      name = `lazy${this.#names.size + 1}`
      this.#names.set(target, name)
      this.#defs[name] = this.#schema(target)
    }
    return { $ref: `#/$defs/${name}` }
  }
}

/**
 * The part of a pipe that describes one side: a schema, and the actions that follow it.
 *
 * The input is described up to the first step that changes it; the output, from the last schema on. A schema without
 * a pipe is its own only step.
 */
function stepsOf(schema: ValibotNode, side: Side): readonly [ValibotNode, ...ValibotNode[]] {
  const [first, ...rest] = flatten(schema).filter(({ type }) => !KEEPING.has(type))
  if (side === "input") {
    const end = rest.findIndex(({ kind }) => kind === "schema" || kind === "transformation")
    return [first!, ...(end < 0 ? rest : rest.slice(0, end))]
  }
  const last = rest.findLastIndex(({ kind }) => kind === "schema")
  return last < 0 ? [first!, ...rest] : [rest[last]!, ...rest.slice(last + 1)]
}

function flatten(node: ValibotNode): ValibotNode[] {
  const pipe = node["pipe"]
  if (!Array.isArray(pipe)) return [node]
  return (pipe as ValibotNode[]).flatMap(flatten)
}

function lazyTarget(schema: ValibotNode): ValibotNode {
  let target: unknown
  try {
    target = (schema["getter"] as (input: unknown) => unknown)(undefined)
  } catch (cause) {
    throw new TypeError(
      `A v.lazy() cannot be described: its function failed without an input (${reasonOf(cause)}). Let it return the same schema for every input.`,
      { cause },
    )
  }
  return target as ValibotNode
}

function constantOf(schema: ValibotNode, value: unknown): unknown {
  if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    return value
  throw unsupported(schema, ` with the value ${quote(value)}`)
}

function list(schema: ValibotNode, key: string): readonly unknown[] {
  const value = schema[key]
  if (Array.isArray(value)) return value
  throw new TypeError(`This Valibot "${schema.type}" has no list of ${key}.`)
}
