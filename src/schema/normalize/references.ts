import { isRecord, stringsOf } from "../../internal/guards.ts"
import { hasKeys, isSchema } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { Links } from "../refs.ts"
import type { RefKeyword } from "../refs.ts"
import { definitionsOf, type DefinitionSource } from "../trusted-schemas.ts"

const DEFINITIONS = "#/$defs/"

/**
 * Follows the references of one schema document.
 *
 * `undefined` means that the target is uncertain: it does not exist, or depends on how the schema was entered
 * (`$dynamicRef` with several anchors).
 */
export class References {
  readonly #root: JsonSchema
  #links: Links | undefined
  /** The definitions of an adopted schema, whose references all lead there: nothing has to be indexed. */
  readonly #definitions: DefinitionSource | undefined

  constructor(root: JsonSchema) {
    this.#root = root
    this.#definitions = definitionsOf(root)
  }

  /** The schemas that `schema` refers to; `undefined` when one of them is not certain. */
  of(schema: JsonSchema): readonly Subschema[] | undefined {
    const targets: Subschema[] = []
    if (schema["$recursiveRef"] !== undefined) return undefined
    for (const keyword of ["$ref", "$dynamicRef"] as const) {
      const ref = schema[keyword]
      if (ref === undefined) continue
      const target = typeof ref === "string" ? this.#follow(schema, keyword, ref) : undefined
      if (target === undefined) return undefined
      targets.push(target)
    }
    return targets
  }

  #follow(schema: JsonSchema, keyword: RefKeyword, ref: string): Subschema | undefined {
    if (this.#definitions !== undefined) {
      const definition = this.#definitions.get(ref.slice(DEFINITIONS.length))
      return isSchema(definition) ? definition : undefined
    }
    const links = (this.#links ??= new Links(this.#root))
    const isOverridable = keyword === "$dynamicRef" && links.dynamicName(schema) !== undefined
    return isOverridable ? undefined : links.find(schema, keyword)
  }
}

/** A schema as it appears inside another one. */
export type Subschema = JsonSchema | boolean

/** The subschemas of a keyword that holds a list of them. */
export function schemaList(schema: JsonSchema, keyword: string): readonly Subschema[] {
  const list = schema[keyword]
  return Array.isArray(list) ? list.filter(isSchema) : []
}

/** The subschemas of a keyword that maps names to them. */
export function schemaMap(schema: JsonSchema, keyword: string): readonly [string, Subschema][] {
  const map = schema[keyword]
  if (!isRecord(map)) return []
  return Object.entries(map).filter((entry): entry is [string, Subschema] => isSchema(entry[1]))
}

/** The subschema of a keyword that holds one. */
export function oneSchema(schema: JsonSchema, keyword: string): Subschema | undefined {
  const value = schema[keyword]
  return isSchema(value) ? value : undefined
}

/** Whether undeclared keys are explicitly allowed. */
export function opensObject(schema: JsonSchema): boolean {
  return [schema["additionalProperties"], schema["unevaluatedProperties"]].some(
    (rest) => rest === true || isRecord(rest),
  )
}

/**
 * Whether a schema declares its keys.
 *
 * `properties: {}` alone does not: generators write it for objects of any content.
 */
export function declaresKeys(schema: JsonSchema): boolean {
  return (
    schema["additionalProperties"] === false ||
    schema["unevaluatedProperties"] === false ||
    hasKeys(schema["properties"]) ||
    hasKeys(schema["patternProperties"])
  )
}

/** Names that a schema mentions without describing them; they count as declared. */
export function mentionedKeys(schema: JsonSchema): string[] {
  const names = stringsOf(schema["required"])
  const dependent = schema["dependentRequired"]
  if (isRecord(dependent)) {
    for (const [trigger, needed] of Object.entries(dependent)) {
      names.push(trigger, ...stringsOf(needed))
    }
  }
  if (isRecord(schema["dependentSchemas"])) names.push(...Object.keys(schema["dependentSchemas"]))
  return names
}
