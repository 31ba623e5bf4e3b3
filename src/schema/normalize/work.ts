import { isPlainRecord } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { flattenOne } from "./flatten.ts"
import { declaresKeys, oneSchema, opensObject, schemaList, schemaMap } from "./keywords.ts"
import type { Subschema } from "./keywords.ts"
import type { References } from "./references.ts"

const SINGLE = ["additionalProperties", "items", "if", "then", "else"]
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"]
const MAPS = ["properties", "patternProperties", "dependentSchemas"]

/**
 * Decides which schemas may require a change of a valid value: a key to strip, a default to fill in.
 *
 * When unsure, it returns true.
 */
export class Work {
  readonly #refs: References
  readonly #options: { readonly strip: boolean; readonly defaults: boolean }
  readonly #cache = new Map<JsonSchema, boolean>()

  constructor(refs: References, options: { readonly strip: boolean; readonly defaults: boolean }) {
    this.#refs = refs
    this.#options = options
  }

  /** Whether there may be work at or below `schema`. */
  reaches(schema: Subschema): boolean {
    if (typeof schema === "boolean" || (!this.#options.strip && !this.#options.defaults))
      return false
    const visited = new Set<JsonSchema>()
    if (this.#search(schema, visited)) return true
    // None of the visited schemas has work.
    for (const idle of visited) this.#cache.set(idle, false)
    return false
  }

  /** Whether an absent property of this schema has a default to fill in. */
  hasDefault(schema: Subschema): boolean {
    const { members } = flattenOne(schema, this.#refs)
    return (
      this.#options.defaults && members.some((member) => Object.hasOwn(member.schema, "default"))
    )
  }

  #search(schema: JsonSchema, visited: Set<JsonSchema>): boolean {
    const cached = this.#cache.get(schema)
    if (cached !== undefined) return cached
    if (visited.has(schema)) return false
    visited.add(schema)
    const hasWork =
      this.#isWork(schema) ||
      this.#below(schema).some((child) => isPlainRecord(child) && this.#search(child, visited))
    if (hasWork) this.#cache.set(schema, true)
    return hasWork
  }

  #isWork(schema: JsonSchema): boolean {
    if (this.#options.strip && declaresKeys(schema) && !opensObject(schema)) return true
    return schemaMap(schema, "properties").some(([, property]) => this.hasDefault(property))
  }

  #below(schema: JsonSchema): Subschema[] {
    return [
      ...(this.#refs.of(schema) ?? []),
      ...SINGLE.map((keyword) => oneSchema(schema, keyword) ?? true),
      ...LISTS.flatMap((keyword) => schemaList(schema, keyword)),
      ...MAPS.flatMap((keyword) => schemaMap(schema, keyword).map(([, child]) => child)),
    ]
  }
}
