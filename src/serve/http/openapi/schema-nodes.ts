import { definitionsOf, type DefinitionSource } from "../../../schema/trusted-schemas.ts"
import { isRecord } from "../../../internal/guards.ts"
import { perObject } from "../../../internal/per-object.ts"
import { setOwn, type JsonSchema } from "../../../schema/json.ts"
import { Links } from "../../../schema/refs.ts"
import { mapSchemas, plainSchema } from "../../../schema/read/plain-schema.ts"
import { isShowable, type SchemaRole } from "./model.ts"

/** A schema that others refer to; its own references are tokens. */
export interface SchemaNode {
  /** The preferred name, which another node may take. */
  readonly wanted: string
  body: JsonSchema
}

/** Finds the node of a reference; a boolean for a boolean schema. */
type Refer = (holder: Record<string, unknown>, keyword: "$ref" | "$dynamicRef") => number | boolean

/** The node of a schema that stands where it is used; `undefined` if it stays there. */
type NodeOf = (schema: JsonSchema) => number | undefined

const DEFS = "#/$defs/"

/** Keywords that have no meaning, or another one, in a schema within a document. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["$defs", "definitions", "$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary"],
  ...["$ref", "$dynamicRef", "discriminator", "xml", "externalDocs"],
])

/** The token that refers to a node until nodes have names. */
function tokenOf(index: number): string {
  return `\u0001${index}`
}

/** The node of a token; `undefined` for any other text. */
export function indexOfToken(ref: unknown): number | undefined {
  if (typeof ref !== "string" || !ref.startsWith("\u0001")) return undefined
  return Number(ref.slice(1))
}

/** Definitions of an imported document by name, for one role. */
type World = Map<string, { readonly definition: unknown; readonly index: number | boolean }>

/** Splits schemas into nodes: each referenced schema becomes one node. */
export class NodeStore {
  readonly nodes: SchemaNode[] = []
  readonly #namesIn = perObject(referredNames)
  readonly #worlds: Record<SchemaRole, World[]> = { input: [], output: [] }

  /** Copies a schema with tokens as references, which are resolved in `root`. */
  add(schema: JsonSchema, role: SchemaRole, place: string, root: JsonSchema): JsonSchema {
    const source = definitionsOf(root)
    return source === undefined
      ? this.#addOwn(schema, role, place, root)
      : this.#addShared(schema, role, source)
  }

  /** Adds a schema with its own definitions. */
  #addOwn(schema: JsonSchema, role: SchemaRole, place: string, root: JsonSchema): JsonSchema {
    let links: Links | undefined
    const indexes = new Map<object, number>()
    const indexOf = (target: JsonSchema, wanted: string): number => {
      const index = indexes.get(target) ?? this.#make(wanted, target)
      indexes.set(target, index)
      return index
    }
    const refer: Refer = (holder, keyword) => {
      links ??= new Links(root)
      const target = links.target(holder, keyword)
      if (typeof target === "boolean") return target
      return indexOf(target, target === root ? place : lastName(String(holder[keyword])))
    }
    return this.#copyAll(schema, role, refer, (node) => {
      const { title, type } = node
      return typeof title === "string" && type === "object" ? indexOf(node, title) : undefined
    })
  }

  /**
   * Adds a schema of an imported document. Its definitions are shared with thousands of others, so each is
   * processed once, and not again for every schema that uses it.
   */
  #addShared(schema: JsonSchema, role: SchemaRole, source: DefinitionSource): JsonSchema {
    const world = this.#worldOf(schema, role, source)
    const refer: Refer = (holder) => {
      const name = String(holder["$ref"] ?? holder["$dynamicRef"]).slice(DEFS.length)
      const existing = world.get(name)
      if (existing !== undefined) return existing.index
      const definition = source.get(name)
      const index = isRecord(definition)
        ? this.#make(lastName(name), definition)
        : definition !== false
      world.set(name, { definition, index })
      return index
    }
    return this.#copyAll(schema, role, refer, () => undefined)
  }

  /** Finds definitions that this schema can share: none of its names has another meaning there. */
  #worldOf(schema: JsonSchema, role: SchemaRole, source: DefinitionSource): World {
    const definitions = new Map<string, unknown>()
    const waiting: object[] = [schema]
    for (const node of waiting) {
      for (const name of this.#namesIn(node)) {
        if (definitions.has(name)) continue
        const definition = source.get(name)
        definitions.set(name, definition)
        if (isRecord(definition)) waiting.push(definition)
      }
    }
    const fits = (world: World): boolean => {
      for (const [name, definition] of definitions) {
        const existing = world.get(name)
        if (existing !== undefined && existing.definition !== definition) return false
      }
      return true
    }
    const worlds = this.#worlds[role]
    let world = worlds.find(fits)
    if (world === undefined) worlds.push((world = new Map()))
    return world
  }

  #make(wanted: string, schema: JsonSchema): number {
    return this.nodes.push({ wanted, body: schema }) - 1
  }

  /** Copies a schema and all it refers to, without recursion: chains may be long. */
  #copyAll(schema: JsonSchema, role: SchemaRole, refer: Refer, nodeOf: NodeOf): JsonSchema {
    const first = this.nodes.length
    const copied = copy(schema, role, refer, nodeOf)
    for (let index = first; index < this.nodes.length; index++) {
      const node = this.nodes[index] as SchemaNode
      const { body } = node
      node.body = copy(body, role, refer, (one) => (one === body ? undefined : nodeOf(one)))
    }
    return copied
  }
}

/** The names of the definitions that a schema refers to. */
function referredNames(node: object): ReadonlySet<string> {
  const names = new Set<string>()
  mapSchemas(node as JsonSchema, (inner) => {
    const ref = inner["$ref"]
    if (typeof ref === "string") names.add(ref.slice(DEFS.length))
    return within(inner)
  })
  return names
}

/** A schema without its definitions, which may be many and lazy. */
function within(schema: JsonSchema): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(schema)) {
    if (LEFT_OUT.has(key) || (key === "examples" && !isShowable(schema[key]))) continue
    setOwn(out, key, schema[key])
  }
  return out
}

function copy(schema: JsonSchema, role: SchemaRole, refer: Refer, nodeOf: NodeOf): JsonSchema {
  // Importers remove properties with these keywords; here the schema describes what is validated.
  const mark = role === "input" ? "readOnly" : "writeOnly"
  const mapped = mapSchemas(schema, (node) => {
    const own = nodeOf(node)
    if (own !== undefined) return { $ref: tokenOf(own) }
    const out = within(node)
    if (typeof out[mark] === "boolean") delete out[mark]
    const keyword = typeof node["$ref"] === "string" ? "$ref" : "$dynamicRef"
    if (typeof node[keyword] !== "string") return out
    const target = refer(node, keyword)
    if (typeof target === "number") return { $ref: tokenOf(target), ...out }
    return target ? out : { not: {} }
  })
  return plainSchema(mapped)
}

/** `Task` for `#/$defs/Task` and for `https://example.com/schemas/Task`. */
function lastName(ref: string): string {
  return (
    ref
      .split(/[/#:]/)
      .filter((part) => part !== "")
      .at(-1) ?? ""
  )
}
