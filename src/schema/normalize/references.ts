import { valueAt } from "../../internal/pointer.ts"
import { isRecord } from "../../internal/guards.ts"
import { hasKeys, isSchema, pointerTokens } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { eachSubschema } from "../keywords.ts"
import { splitReference } from "../refs.ts"
import { definitionsOf, type DefinitionSource } from "../trusted-schemas.ts"

/** The base of relative identifiers for schemas without one. */
const DEFAULT_BASE = "schema:///"

const DEFINITIONS = "#/$defs/"

/**
 * Follows the references of one schema document.
 *
 * `undefined` means that the target is uncertain: it does not exist, is in a part that belongs to
 * two resources, or depends on how the schema was entered (`$dynamicRef` with several anchors).
 */
export class References {
  readonly #root: JsonSchema
  readonly #resources = new Map<string, JsonSchema>()
  readonly #anchors = new Map<string, JsonSchema>()
  readonly #dynamic = new Map<string, number>()
  /** The base of each subschema; `undefined` for one that is reached under several. */
  readonly #bases = new Map<JsonSchema, string | undefined>()
  /** The base of all, where no part has an identifier of its own. */
  #base: string | undefined
  #indexed = false
  /** The definitions of an adopted schema, whose references all lead there: nothing has to be indexed. */
  readonly #definitions: DefinitionSource | undefined

  constructor(root: JsonSchema) {
    this.#root = root
    this.#definitions = definitionsOf(root)
  }

  /** The schemas that `schema` refers to; `undefined` when one of them is not certain. */
  of(schema: JsonSchema): readonly Subschema[] | undefined {
    const targets: Subschema[] = []
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const ref = schema[keyword]
      if (ref === undefined) continue
      const target = typeof ref === "string" ? this.#follow(schema, keyword, ref) : undefined
      if (target === undefined) return undefined
      targets.push(target)
    }
    return targets
  }

  #follow(schema: JsonSchema, keyword: string, ref: string): Subschema | undefined {
    if (keyword === "$recursiveRef") return undefined
    if (this.#definitions !== undefined) {
      const definition = this.#definitions.get(ref.slice(DEFINITIONS.length))
      return isSchema(definition) ? definition : undefined
    }
    if (!this.#indexed) this.#indexAll()
    const base = this.#base ?? this.#bases.get(schema)
    if (base === undefined) return undefined
    const { uri, fragment } = splitReference(ref, base)
    const resource = this.#resources.get(uri)
    if (resource === undefined || fragment === undefined) return undefined
    const tokens = pointerTokens(fragment)
    if (tokens !== undefined) {
      const target = valueAt(resource, tokens)
      return isSchema(target) ? target : undefined
    }
    const anchored = this.#anchors.get(`${uri}#${fragment}`)
    const isDynamic = keyword === "$dynamicRef" && anchored?.["$dynamicAnchor"] === fragment
    return isDynamic && this.#dynamic.get(fragment) !== 1 ? undefined : anchored
  }

  #indexAll(): void {
    this.#indexed = true
    this.#index(this.#root, DEFAULT_BASE)
    if (this.#resources.size > 1) return
    this.#base = this.#bases.get(this.#root)
    this.#bases.clear()
  }

  #index(schema: JsonSchema, parentBase: string | undefined): void {
    const id = schema["$id"]
    const own =
      typeof id === "string" && parentBase !== undefined
        ? splitReference(id, parentBase).uri
        : undefined
    const base = own ?? parentBase
    const seen = this.#bases.has(schema)
    if (seen && (this.#bases.get(schema) === base || this.#bases.get(schema) === undefined)) return
    this.#bases.set(schema, seen ? undefined : base)
    if (!seen && base !== undefined)
      this.#name(schema, base, own !== undefined || schema === this.#root)

    const inner = seen ? undefined : base
    eachSubschema(schema, (child) => {
      if (typeof child !== "boolean") this.#index(child, inner)
    })
  }

  #name(schema: JsonSchema, base: string, isResource: boolean): void {
    if (isResource) this.#resources.set(base, schema)
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor = schema[keyword]
      if (typeof anchor === "string") this.#anchors.set(`${base}#${anchor}`, schema)
    }
    const dynamic = schema["$dynamicAnchor"]
    if (typeof dynamic === "string") {
      this.#dynamic.set(dynamic, (this.#dynamic.get(dynamic) ?? 0) + 1)
    }
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

/** The strings of a list; nothing for anything else. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
}
