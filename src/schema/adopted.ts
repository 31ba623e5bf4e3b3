import { Given } from "./given.ts"
import type { JsonSchema } from "./json.ts"

class Adopted extends Given {
  readonly #mark = true

  static has(value: object): boolean {
    return #mark in value && value.#mark
  }
}

/**
 * Takes over a schema that was put together from admitted parts: plain, closed 2020-12 whose references
 * all lead to its own `$defs`.
 *
 * For code that admits the parts itself and shares them between many schemas; copying each whole would
 * multiply a large document. To be called before the schema is frozen.
 */
export function adoptSchema(schema: JsonSchema): void {
  if (!Adopted.has(schema)) void new Adopted(schema)
}

/** Whether a schema was adopted. */
export function isAdopted(schema: object): boolean {
  return Adopted.has(schema)
}
