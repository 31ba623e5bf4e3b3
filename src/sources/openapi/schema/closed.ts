import {
  adoptSchema,
  definitionsOf,
  type DefinitionSource,
} from "../../../schema/trusted-schemas.ts"
import type { JsonSchema } from "../../../schema/json.ts"
import type { Definition, SchemaNode, View } from "./definition.ts"
import type { SchemaStore } from "./store.ts"

/** The definitions that a schema refers to. */
class Roots implements DefinitionSource {
  readonly store: SchemaStore
  readonly refs: readonly Definition[]
  readonly view: View

  constructor(store: SchemaStore, refs: readonly Definition[], view: View) {
    this.store = store
    this.refs = refs
    this.view = view
  }

  get $defs(): unknown {
    return this.store.closure(this.refs, this.view).$defs
  }

  hasMoreThan(count: number): boolean {
    return this.store.hasMoreThan(this.refs, this.view, count)
  }

  get(name: string): SchemaNode | undefined {
    return this.store.named(name, this.view)
  }
}

// The same function each time, so that all such schemas have the same hidden class.
const DEFS: PropertyDescriptor = {
  enumerable: true,
  get(this: object) {
    const roots = definitionsOf(this)
    return roots instanceof Roots ? roots.$defs : undefined
  },
}

/**
 * Creates a self-contained schema: frozen, with all definitions it needs.
 *
 * `$defs` is created on first use: in a large document the definitions of all operations together are many
 * times the document, and most are never read. A node created for this schema alone (`isOwned`) is used
 * directly; others are copied.
 */
export function closeSchema(
  node: SchemaNode,
  refs: readonly Definition[],
  store: SchemaStore,
  view: View,
  isOwned = false,
): JsonSchema {
  const schema: JsonSchema = isOwned ? (node as JsonSchema) : copyOf(node)
  if (refs.length === 0) adoptSchema(schema)
  else {
    Object.defineProperty(schema, "$defs", DEFS)
    adoptSchema(schema, new Roots(store, refs, view))
  }
  return Object.freeze(schema)
}

function copyOf(node: SchemaNode): JsonSchema {
  if (typeof node === "boolean") return node ? {} : { not: {} }
  return { ...node }
}
