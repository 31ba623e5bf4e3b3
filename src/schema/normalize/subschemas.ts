import { isRecord, stringsOf } from "../../internal/guards.ts"
import { hasKeys, isSchema, type JsonSchema } from "../json.ts"

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
