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
 * Tells which schemas may ask for something of a valid value: a key to strip, a default to fill.
 *
 * It errs on the side of yes.
 */
export class Work {
  readonly #refs: References
  readonly #options: { readonly strip: boolean; readonly defaults: boolean }
  readonly #known = new Map<JsonSchema, boolean>()

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
    // Everything that was visited is known now: nothing below it had work.
    for (const idle of visited) this.#known.set(idle, false)
    return false
  }

  /** Whether an absent property of this schema has a value to be given. */
  hasDefault(schema: Subschema): boolean {
    const { members } = flattenOne(schema, this.#refs)
    return (
      this.#options.defaults && members.some((member) => Object.hasOwn(member.schema, "default"))
    )
  }

  #search(schema: JsonSchema, visited: Set<JsonSchema>): boolean {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    if (visited.has(schema)) return false
    visited.add(schema)
    const found =
      this.#isWork(schema) ||
      this.#below(schema).some((child) => isPlainRecord(child) && this.#search(child, visited))
    if (found) this.#known.set(schema, true)
    return found
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
