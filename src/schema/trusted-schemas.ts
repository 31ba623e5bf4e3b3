import type { JsonSchema } from "./json.ts"

/** The definitions of a schema, read one by one. */
export interface DefinitionSource {
  /** Whether there are more than `count` definitions; creates none of them. */
  hasMoreThan(count: number): boolean
  /** One of them; `undefined` when there is none of that name. */
  get(name: string): unknown
}

/**
 * A constructor that returns its argument, so that a class that extends it can add a private field to that object.
 *
 * Such a field costs a fraction of an entry in a `WeakMap`, in time and in memory, for thousands of schemas.
 */
const ReturnsTarget = function returnTarget(target: object): object {
  return target
} as unknown as new (target: object) => object

class Adopted extends ReturnsTarget {
  readonly #definitions: DefinitionSource | null

  constructor(schema: object, definitions: DefinitionSource | undefined) {
    super(schema)
    this.#definitions = definitions ?? null
  }

  static definitionsOf(value: object): DefinitionSource | null | undefined {
    return #definitions in value ? value.#definitions : undefined
  }
}

/**
 * Adopts a schema that was built from admitted parts: plain, closed 2020-12 whose references
 * all lead to its own `$defs`.
 *
 * For code that admits the parts itself and shares them between many schemas; copying each whole would
 * multiply a large document. Call it before the schema is frozen.
 */
export function adoptSchema(schema: JsonSchema, definitions?: DefinitionSource): void {
  if (!isAdopted(schema)) void new Adopted(schema, definitions)
}

/** Whether a schema was adopted. */
export function isAdopted(schema: object): boolean {
  return Adopted.definitionsOf(schema) !== undefined
}

/** The definition source of an adopted schema; `undefined` if it has none. */
export function definitionsOf(schema: object): DefinitionSource | undefined {
  return Adopted.definitionsOf(schema) ?? undefined
}
