import { definitionsOf, type DefinitionSource } from "../trusted-schemas.ts"
import { isPlainRecord } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { isSubschema, oneSchema, schemaList, schemaMap } from "./keywords.ts"
import type { Subschema } from "./keywords.ts"

/** The base of relative identifiers for schemas without one. */
const DEFAULT_BASE = "schema:///"

const DEFINITIONS = "#/$defs/"

const SINGLE = [
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "items",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema",
]
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"]
const MAPS = ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"]

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
      return isSubschema(definition) ? definition : undefined
    }
    if (!this.#indexed) this.#indexAll()
    const base = this.#base ?? this.#bases.get(schema)
    const target = base === undefined ? undefined : absolute(ref, base)
    if (target === undefined) return undefined
    const [uri, fragment] = splitFragment(target)
    const resource = this.#resources.get(uri)
    if (resource === undefined || fragment === undefined) return undefined
    if (fragment === "" || fragment.startsWith("/")) return at(resource, fragment)
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
      typeof id === "string" && parentBase !== undefined ? absolute(id, parentBase) : undefined
    const base = own === undefined ? parentBase : splitFragment(own)[0]
    const seen = this.#bases.has(schema)
    if (seen && (this.#bases.get(schema) === base || this.#bases.get(schema) === undefined)) return
    this.#bases.set(schema, seen ? undefined : base)
    if (!seen && base !== undefined)
      this.#name(schema, base, own !== undefined || schema === this.#root)

    const inner = seen ? undefined : base
    const visit = (child: Subschema | undefined): void => {
      if (isPlainRecord(child)) this.#index(child, inner)
    }
    for (const keyword of SINGLE) visit(oneSchema(schema, keyword))
    for (const keyword of LISTS) for (const child of schemaList(schema, keyword)) visit(child)
    for (const keyword of MAPS) for (const [, child] of schemaMap(schema, keyword)) visit(child)
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

function absolute(ref: string, base: string): string | undefined {
  if (ref.startsWith("#")) return base + ref
  try {
    return new URL(ref, base).href
  } catch {
    return undefined
  }
}

/** A URI without its fragment, and the fragment; `undefined` for one that cannot be decoded. */
function splitFragment(uri: string): [string, string | undefined] {
  const hash = uri.indexOf("#")
  if (hash < 0) return [uri, ""]
  try {
    return [uri.slice(0, hash), decodeURIComponent(uri.slice(hash + 1))]
  } catch {
    return [uri.slice(0, hash), undefined]
  }
}

function at(resource: JsonSchema, pointer: string): Subschema | undefined {
  let current: unknown = resource
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
      return undefined
    }
    current = (current as Record<string, unknown>)[key]
  }
  return isSubschema(current) ? current : undefined
}
