import { pointerTokens, getOwn, isPlainRecord, setOwn } from "../../schema/json.ts"
import type { JsonSchema } from "../../schema/json.ts"

const MAX_DEPTH = 16
// Products of unions grow fast.
const MAX_ALTERNATIVES = 64
const ANYTHING: JsonSchema = {}

/** A view of a schema for typed input; references and unions are resolved. */
export class SchemaView {
  readonly schema: JsonSchema
  readonly #root: JsonSchema
  #alternatives: readonly JsonSchema[] | undefined

  constructor(schema: unknown, root: unknown = schema) {
    this.schema = isPlainRecord(schema) ? schema : ANYTHING
    this.#root = isPlainRecord(root) ? root : ANYTHING
  }

  /** Alternative schemas of a value, without `$ref`, `allOf`, `anyOf` and `oneOf`. */
  get alternatives(): readonly JsonSchema[] {
    this.#alternatives ??= flatten(this.schema, this.#root, 0)
    return this.#alternatives
  }

  /** The JSON types of values, `integer` in addition to `number`; empty when not restricted. */
  get types(): ReadonlySet<string> {
    const types = new Set<string>()
    for (const one of this.alternatives) {
      const own = typesOf(one)
      if (own.length === 0) return new Set()
      for (const type of own) types.add(type)
    }
    return types
  }

  /** The allowed values; `undefined` when they are not enumerated. */
  get values(): readonly unknown[] | undefined {
    const values: unknown[] = []
    for (const one of this.alternatives) {
      if (Object.hasOwn(one, "const")) values.push(one["const"])
      else if (Array.isArray(one["enum"])) values.push(...(one["enum"] as unknown[]))
      else if (one["type"] === "null") values.push(null)
      else if (one["type"] !== "boolean") return undefined
      else values.push(true, false)
    }
    return [...new Set(values)]
  }

  /** The value is binary: the body of an upload, a file of a form. */
  get isBinary(): boolean {
    return this.alternatives.some(({ format }) => format === "binary")
  }

  /** The first text under a keyword such as `description`. */
  text(keyword: "title" | "description" | "format"): string | undefined {
    const own = this.schema[keyword]
    if (typeof own === "string") return own
    const found = this.alternatives.find((one) => typeof one[keyword] === "string")
    return found?.[keyword] as string | undefined
  }

  /** The default value. */
  get default(): { readonly value: unknown } | undefined {
    const found = [this.schema, ...this.alternatives].find((one) => Object.hasOwn(one, "default"))
    return found && { value: found["default"] }
  }

  /** Declared names, in order. */
  get names(): readonly string[] {
    return [...new Set(this.alternatives.flatMap((one) => Object.keys(propertiesOf(one))))]
  }

  /** Names that are required in every alternative. */
  get required(): readonly string[] {
    const objects = this.alternatives.filter((one) => {
      const types = typesOf(one)
      return types.length === 0 || types.includes("object")
    })
    const [first = [], ...others] = objects.map(requiredOf)
    return first.filter((name) => others.every((names) => names.includes(name)))
  }

  /** The schema of a declared property. */
  declared(name: string): SchemaView | undefined {
    const schemas = this.alternatives
      .map((one) => getOwn(propertiesOf(one), name))
      .filter((one) => one !== undefined)
    return schemas.length === 0 ? undefined : this.#either(schemas)
  }

  /** The schema of undeclared properties; `undefined` when the schema does not mention them. */
  get rest(): SchemaView | undefined {
    const schemas = this.alternatives.flatMap((one) => {
      const patterns = isPlainRecord(one["patternProperties"]) ? one["patternProperties"] : {}
      const { additionalProperties } = one
      return [
        ...Object.values(patterns),
        ...(isPlainRecord(additionalProperties) || additionalProperties === true
          ? [additionalProperties]
          : []),
      ]
    })
    return schemas.length === 0 ? undefined : this.#either(schemas)
  }

  /** The schema of a property, declared or not. */
  property(name: string): SchemaView {
    return this.declared(name) ?? this.rest ?? new SchemaView(ANYTHING)
  }

  /** The schema of a list item. */
  item(index: number): SchemaView {
    const schemas = this.alternatives.flatMap(({ prefixItems, items }) => {
      const own: unknown = Array.isArray(prefixItems) ? prefixItems[index] : undefined
      return isPlainRecord(own) ? [own] : isPlainRecord(items) ? [items] : []
    })
    return schemas.length === 0 ? new SchemaView(ANYTHING) : this.#either(schemas)
  }

  #either(schemas: readonly unknown[]): SchemaView {
    const [only] = schemas
    return new SchemaView(schemas.length === 1 ? only : { anyOf: schemas }, this.#root)
  }
}

function typesOf(schema: JsonSchema): readonly string[] {
  const { type, enum: values, properties, required, items, prefixItems } = schema
  if (typeof type === "string") return type === "void" ? [] : [type]
  if (Array.isArray(type)) return type.map(String)
  if (Object.hasOwn(schema, "const")) return [nameOf(schema["const"])]
  if (Array.isArray(values)) return values.map(nameOf)
  if (properties !== undefined || required !== undefined) return ["object"]
  return items !== undefined || prefixItems !== undefined ? ["array"] : []
}

/** The JSON type of a value. */
export function nameOf(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

function propertiesOf({ properties }: JsonSchema): Record<string, unknown> {
  return isPlainRecord(properties) ? properties : {}
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.map(String) : []
}

function flatten(node: JsonSchema, root: JsonSchema, depth: number): readonly JsonSchema[] {
  if (depth > MAX_DEPTH) return [ANYTHING]
  const { $ref, allOf, anyOf, oneOf, ...own } = node
  const within = (part: unknown): readonly JsonSchema[] => {
    if (part === false) return []
    return isPlainRecord(part) ? flatten(part, root, depth + 1) : [ANYTHING]
  }
  let found: readonly JsonSchema[] = [own]
  if (typeof $ref === "string") found = combined(found, within(targetOf(root, $ref)))
  for (const part of Array.isArray(allOf) ? allOf : []) found = combined(found, within(part))
  for (const parts of [anyOf, oneOf]) {
    if (Array.isArray(parts)) found = combined(found, parts.flatMap(within))
  }
  return found
}

/** Combines each schema of one side with each of the other. */
function combined(left: readonly JsonSchema[], right: readonly JsonSchema[]): JsonSchema[] {
  if (right.length === 0) return [...left]
  return left
    .flatMap((one) => right.slice(0, MAX_ALTERNATIVES).map((other) => merged(one, other)))
    .slice(0, MAX_ALTERNATIVES)
}

function merged(left: JsonSchema, right: JsonSchema): JsonSchema {
  const properties = { ...propertiesOf(right) }
  for (const [name, schema] of Object.entries(propertiesOf(left))) {
    const other = getOwn(properties, name)
    setOwn(properties, name, other === undefined ? schema : { allOf: [schema, other] })
  }
  const required = [...requiredOf(left), ...requiredOf(right)]
  return {
    ...right,
    ...left,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** The target of a reference within a document, by pointer, `$id` or `$anchor`. */
function targetOf(root: JsonSchema, reference: string): unknown {
  if (reference === "#") return root
  const defs = isPlainRecord(root["$defs"]) ? root["$defs"] : {}
  const tokens = reference.startsWith("#/") ? pointerTokens(decoded(reference.slice(1))) : undefined
  if (tokens !== undefined) {
    return tokens.reduce<unknown>(
      (at, token) => (typeof at === "object" && at !== null ? getOwn(at, token) : undefined),
      root,
    )
  }
  const named = Object.values(defs).find((one) => {
    if (!isPlainRecord(one)) return false
    return one["$id"] === reference || `#${String(one["$anchor"])}` === reference
  })
  return named ?? getOwn(defs, reference)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
