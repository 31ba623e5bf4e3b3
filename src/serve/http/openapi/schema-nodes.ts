import { definitionsOf, type DefinitionSource } from "../../../schema/trusted-schemas.ts"
import { isRecord } from "../../../internal/guards.ts"
import { isFileNode } from "../../../schema/file-fields.ts"
import { setOwn, type JsonSchema } from "../../../schema/json.ts"
import { mapSubschemas } from "../../../schema/keywords.ts"
import { DEFS, neededBy } from "../../../schema/mentions.ts"
import { Links } from "../../../schema/refs.ts"
import { standardNode } from "../../../schema/read/plain-schema.ts"
import { isShowable, type JsonObject, type SchemaRole } from "./model.ts"

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

/** Keywords that have no meaning, or another one, in a schema within a document. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["$defs", "definitions", "$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary"],
  ...["$ref", "$dynamicRef", "discriminator", "xml", "externalDocs"],
])

/** The token that refers to a node until nodes have names. */
function tokenOf(index: number): string {
  return `\u0001${index}`
}

/** Definitions of an imported document by name, for one role. */
type World = Map<string, { readonly definition: unknown; readonly index: number | boolean }>

/** Splits schemas into nodes: each referenced schema becomes one node. */
export class NodeStore {
  readonly nodes: SchemaNode[] = []
  /** Objects whose `$ref` is the token of a node. */
  readonly references: { readonly holder: JsonObject; readonly index: number }[] = []
  readonly #worlds: Record<SchemaRole, World[]> = { input: [], output: [], error: [] }

  /**
   * Copies a schema, or a part of a `root`, with tokens as references. `place` becomes its name if it needs one and has
   * none.
   */
  add(schema: JsonSchema, role: SchemaRole, place: string, root: JsonSchema = schema): JsonObject {
    const source = definitionsOf(root)
    return source === undefined
      ? this.#addOwn(schema, role, place, root)
      : this.#addShared(schema, role, source)
  }

  /** Adds a schema with its own definitions. */
  #addOwn(schema: JsonSchema, role: SchemaRole, place: string, root: JsonSchema): JsonObject {
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
  #addShared(schema: JsonSchema, role: SchemaRole, source: DefinitionSource): JsonObject {
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
    const definitions = neededBy(schema, source)
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
  #copyAll(schema: JsonSchema, role: SchemaRole, refer: Refer, nodeOf: NodeOf): JsonObject {
    const first = this.nodes.length
    const copied = this.#copy(schema, role, refer, nodeOf)
    for (let index = first; index < this.nodes.length; index++) {
      const node = this.nodes[index] as SchemaNode
      const { body } = node
      node.body = this.#copy(body, role, refer, (one) => (one === body ? undefined : nodeOf(one)))
    }
    return copied
  }

  #copy(schema: JsonSchema, role: SchemaRole, refer: Refer, nodeOf: NodeOf): JsonObject {
    const change = (node: JsonSchema): JsonObject => {
      const own = nodeOf(node)
      if (own !== undefined) return { $ref: tokenOf(own) }
      const out = standardNode(within(node, role), change)
      const keyword = typeof node["$ref"] === "string" ? "$ref" : "$dynamicRef"
      if (typeof node[keyword] !== "string") return out
      const target = refer(node, keyword)
      if (typeof target === "number") return { $ref: tokenOf(target), ...out }
      return target ? out : { not: {} }
    }
    const inner = (value: unknown): unknown => (isRecord(value) ? copy(value) : value)
    const copy = (node: JsonSchema): JsonObject => {
      const holder = change(node)
      for (const keyword of Object.keys(holder)) {
        const value = holder[keyword]
        const mapped = mapSubschemas(keyword, value, inner)
        if (mapped !== value) holder[keyword] = mapped
      }
      const { $ref } = holder
      if (typeof $ref === "string") this.references.push({ holder, index: Number($ref.slice(1)) })
      return holder
    }
    return copy(schema)
  }
}

/** A schema, not those in it, as it is in a document: without its definitions, which may be many and lazy. */
function within(schema: JsonSchema, role: SchemaRole): JsonObject {
  const out: JsonObject = {}
  // Importers remove properties with these keywords; here the schema describes what is validated.
  const mark = role === "input" ? "readOnly" : "writeOnly"
  // Files are base64 text in JSON; what is not JSON has a type by now.
  const isFile = role !== "error" && isFileNode(schema) && schema["type"] === undefined
  const node = isFile ? { type: "string", ...schema, contentEncoding: "base64" } : schema
  for (const [key, value] of Object.entries(node)) {
    if (LEFT_OUT.has(key) || (key === mark && typeof value === "boolean")) continue
    if (key !== "examples" || isShowable(value)) setOwn(out, key, value)
  }
  return out
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
