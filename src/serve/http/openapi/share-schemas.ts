import { isRecord } from "../../../internal/guards.ts"
import type { JsonSchema } from "../../../schema/json.ts"
import { eachSubschema } from "../../../schema/keywords.ts"
import { mapSchemas } from "../../../schema/read/plain-schema.ts"
import type { Steps } from "./model.ts"
import { tokenOf } from "./schema-nodes.ts"
import type { SchemaNode } from "./schema-nodes.ts"

/** A schema and its place in the document. */
export interface Placed {
  /** Its place, usable as a name: `task.create.input`. */
  readonly place: string
  body: JsonSchema
}

interface Seen {
  readonly wanted: string
  readonly schema: JsonSchema
  count: number
  index: number | undefined
}

/** Turns objects that occur in several places into nodes, and replaces them by references. */
export function* shareObjects(
  nodes: SchemaNode[],
  live: Iterable<number>,
  roots: Placed[],
): Steps<void> {
  const seen = new Map<string, Seen>()
  const own = [...live]
  for (const index of own) {
    const { wanted, body } = nodes[index] as SchemaNode
    seen.set(JSON.stringify(body), { wanted, schema: body, count: 1, index })
    yield
  }
  for (const index of own) {
    const { wanted, body } = nodes[index] as SchemaNode
    countWithin(body, wanted, seen)
    yield
  }
  for (const { place, body } of roots) {
    count(body, place, seen)
    yield
  }
  const replace = (schema: JsonSchema): JsonSchema => {
    const entry = isShareable(schema) ? seen.get(JSON.stringify(schema)) : undefined
    if (entry === undefined || entry.count < 2) return schema
    if (entry.index === undefined) {
      entry.index = nodes.push({ wanted: entry.wanted, body: {} }) - 1
      ;(nodes[entry.index] as SchemaNode).body = inside(entry.schema)
    }
    return { $ref: tokenOf(entry.index) }
  }
  /** All but the outermost schema, which the others refer to. */
  const inside = (schema: JsonSchema): JsonSchema =>
    mapSchemas(schema, (node) => (node === schema ? node : replace(node)))
  for (const index of own) {
    const node = nodes[index] as SchemaNode
    node.body = inside(node.body)
    yield
  }
  for (const root of roots) {
    root.body = mapSchemas(root.body, replace)
    yield
  }
}

function isShareable(schema: JsonSchema): boolean {
  const { type, properties } = schema
  return type === "object" && isRecord(properties) && Object.keys(properties).length > 0
}

/** Counts a schema; the content of a repeated schema is not counted again. */
function count(schema: JsonSchema, place: string, seen: Map<string, Seen>): void {
  if (isShareable(schema)) {
    const text = JSON.stringify(schema)
    const entry = seen.get(text)
    if (entry !== undefined) {
      entry.count++
      return
    }
    const { title } = schema
    const wanted = typeof title === "string" && title !== "" ? title : place
    seen.set(text, { wanted, schema, count: 1, index: undefined })
  }
  countWithin(schema, place, seen)
}

function countWithin(schema: JsonSchema, place: string, seen: Map<string, Seen>): void {
  eachSubschema(schema, (one, keyword, key) => {
    if (typeof one === "boolean") return
    count(one, `${place}.${typeof key === "string" ? key : keyword}`, seen)
  })
}
