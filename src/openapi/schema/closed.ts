import { Given } from "../../schema/given.ts"
import { adoptSchema } from "../../schema/adopted.ts"
import type { JsonSchema } from "../../schema/json.ts"
import type { SchemaNode, View } from "./convert.ts"
import type { Definition } from "./definition.ts"
import type { SchemaStore } from "./store.ts"

/** What a schema refers to. */
interface Roots {
  readonly store: SchemaStore
  readonly refs: readonly Definition[]
  readonly view: View
}

class Closed extends Given {
  readonly #roots: Roots

  constructor(schema: object, roots: Roots) {
    super(schema)
    this.#roots = roots
  }

  static defsOf(schema: object): unknown {
    if (!(#roots in schema)) return undefined
    const { store, refs, view } = schema.#roots
    return store.closure(refs, view).$defs
  }
}

// The same function each time, so that all such schemas have one shape.
const DEFS: PropertyDescriptor = {
  enumerable: true,
  get(this: object) {
    return Closed.defsOf(this)
  },
}

/**
 * A schema that stands on its own: frozen, with all definitions it needs.
 *
 * `$defs` is put together when somebody asks for it. In a large document the closed definitions of all
 * operations are many times the document, and most are never looked at.
 */
export function closeSchema(
  node: SchemaNode,
  refs: readonly Definition[],
  store: SchemaStore,
  view: View,
): JsonSchema {
  const schema: JsonSchema = node === true ? {} : node === false ? { not: {} } : { ...node }
  if (refs.length > 0) {
    void new Closed(schema, { store, refs, view })
    Object.defineProperty(schema, "$defs", DEFS)
  }
  adoptSchema(schema)
  return Object.freeze(schema)
}
