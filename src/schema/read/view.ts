import { isRecord } from "../../internal/guards.ts"
import { listOf } from "../json.ts"
import { alternativesOf, flatten, propertiesOf, requiredOf } from "./flatten.ts"
import type { Flat, Layer } from "./flatten.ts"
import { type Part, scopeOf } from "./resolve-ref.ts"
import { typesOf } from "./types.ts"
import { valuesOf } from "./values.ts"

/** Types with few values. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  boolean: [true, false],
  null: [null],
}

/** Views a schema, whose references are looked up in `root`. */
export function viewOf(schema: unknown, root: unknown = schema): SchemaView {
  return new SchemaView([[{ schema, scope: scopeOf(root) }]])
}

/** A view of a schema for typed input; references and unions are resolved. */
export class SchemaView {
  /** Schemas that all apply, for each of the choices of which one applies. */
  readonly #choices: readonly (readonly Part[])[]
  #alternatives: readonly Flat[] | undefined
  #properties: readonly ReadonlyMap<string, readonly Part[]>[] | undefined
  #types: ReadonlySet<string> | undefined

  constructor(choices: readonly (readonly Part[])[]) {
    this.#choices = choices
  }

  /** Whether there are several ways to fit the schema, `null` included. */
  get isUnion(): boolean {
    return this.#all.length > 1 || this.#all.some(({ isNullable }) => isNullable)
  }

  /** The JSON types of values, `integer` in addition to `number`; empty when not restricted. */
  get types(): ReadonlySet<string> {
    this.#types ??= new Set(this.#typeNames())
    return this.#types
  }

  /** The allowed values; `undefined` when they are not enumerated. */
  get values(): readonly unknown[] | undefined {
    const values: unknown[] = []
    for (const one of this.#all) {
      const own = valuesOf(one) ?? VALUES[typesOf(one).join()]
      if (own === undefined) return undefined
      values.push(...own)
    }
    if (this.#all.some(({ isNullable }) => isNullable)) values.push(null)
    return [...new Set(values)]
  }

  /** The value is binary: the body of an upload, a file of a form. */
  get isBinary(): boolean {
    return this.#layers().some(({ schema }) => schema["format"] === "binary")
  }

  /** The first text under a keyword: of the schema itself, or of what it refers to. */
  text(keyword: "title" | "description" | "format"): string | undefined {
    for (const { schema } of this.#layers()) {
      const text = schema[keyword]
      if (typeof text === "string") return text
    }
    return undefined
  }

  /** The first value of a keyword: of the schema itself, or of what it refers to. */
  first(keyword: string): unknown {
    return this.#layers().find(({ schema }) => Object.hasOwn(schema, keyword))?.schema[keyword]
  }

  /** The default value. */
  get default(): { readonly value: unknown } | undefined {
    const value = this.first("default")
    return value === undefined ? undefined : { value }
  }

  /** The first example of a value. */
  get example(): unknown {
    for (const { schema } of this.#layers()) {
      const { examples, example } = schema
      const [first] = Array.isArray(examples) ? (examples as unknown[]) : [example]
      if (first !== undefined) return first
    }
    return undefined
  }

  /** Declared names, in order. */
  get names(): readonly string[] {
    return [...new Set(this.#declared.flatMap((properties) => [...properties.keys()]))]
  }

  /** Names that every object has. */
  get required(): readonly string[] {
    const objects = this.#all.filter((one) => {
      const types = typesOf(one)
      return types.length === 0 || types.includes("object")
    })
    const [first = new Set<string>(), ...others] = objects.map(requiredOf)
    return [...first].filter((name) => others.every((names) => names.has(name)))
  }

  /** The schema of a declared property. */
  declared(name: string): SchemaView | undefined {
    return either(this.#declared.map((properties) => properties.get(name) ?? []))
  }

  /** The schema of undeclared properties; `undefined` when the schema does not mention them. */
  get rest(): SchemaView | undefined {
    const schemas = this.#layers().flatMap(({ schema, scope }) => {
      const { patternProperties, additionalProperties: others } = schema
      const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : []
      const all = isRecord(others) || others === true ? [...patterns, others] : patterns
      return all.map((one) => [{ schema: one, scope }])
    })
    return either(schemas)
  }

  /** Whether a value may be an object of which the schema says nothing. */
  get isFree(): boolean {
    return this.#all.some((one, at) => {
      const types = typesOf(one)
      const isObject = types.length === 0 || types.includes("object")
      const isDeclared =
        this.#declared[at]?.size !== 0 ||
        one.layers.some(
          ({ schema }) => "additionalProperties" in schema || "patternProperties" in schema,
        )
      return isObject && !one.isNothing && !isDeclared
    })
  }

  /** The schema of a property, declared or not. */
  property(name: string): SchemaView {
    return this.declared(name) ?? this.rest ?? viewOf({})
  }

  /** The schema of a list item. */
  item(index: number): SchemaView {
    const schemas = this.#all.map(({ layers }) =>
      layers.flatMap(({ schema, scope }) => {
        const { prefixItems, items } = schema
        const own = listOf(prefixItems)[index]
        const item = isRecord(own) ? own : items
        return isRecord(item) ? [{ schema: item, scope }] : []
      }),
    )
    return either(schemas) ?? viewOf({})
  }

  /** Whether items have schemas by their place. */
  get isTuple(): boolean {
    return this.#layers().some(({ schema }) => schema["prefixItems"] !== undefined)
  }

  get #all(): readonly Flat[] {
    this.#alternatives ??= this.#choices.flatMap((parts) => alternativesOf(flatten(parts)))
    return this.#alternatives
  }

  /** Declared properties of each alternative. */
  get #declared(): readonly ReadonlyMap<string, readonly Part[]>[] {
    this.#properties ??= this.#all.map(propertiesOf)
    return this.#properties
  }

  #layers(): readonly Layer[] {
    return this.#all.flatMap(({ layers }) => layers)
  }

  #typeNames(): readonly string[] {
    const names: string[] = []
    for (const one of this.#all) {
      if (one.isNothing) continue
      const own = typesOf(one)
      if (own.length === 0) return []
      names.push(...own, ...(one.isNullable ? ["null"] : []))
    }
    return names
  }
}

/** A view of schemas of which one applies; `undefined` if there are none. */
function either(choices: readonly (readonly Part[])[]): SchemaView | undefined {
  const some = choices.filter((parts) => parts.length > 0)
  // What lies beside a union is part of each alternative.
  const distinct = some.filter((parts, at) => some.findIndex((one) => isSame(one, parts)) === at)
  return distinct.length === 0 ? undefined : new SchemaView(distinct)
}

function isSame(left: readonly Part[], right: readonly Part[]): boolean {
  return left.length === right.length && left.every((part, at) => part.schema === right[at]?.schema)
}
