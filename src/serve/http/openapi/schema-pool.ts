import { setOwn, type JsonSchema } from "../../../schema/json.ts"
import { isRecord } from "../../../internal/guards.ts"
import { eachSubschema } from "../../../schema/keywords.ts"
import { mapSchemas } from "../../../schema/read/plain-schema.ts"
import type { JsonObject, SchemaRole, Steps } from "./model.ts"
import { indexOfToken, NodeStore, tokenOf, type SchemaNode } from "./schema-nodes.ts"
import { trimEnd } from "../../../internal/trim-end.ts"

const MAX_NAME = 100

/** A schema, its place in the document, and the object that gets its final form. */
interface Slot {
  readonly target: JsonObject
  /** Its place, usable as a name: `task.create.input`. */
  readonly place: string
  body: JsonSchema
}

/** The schemas of a document: added one by one, and finished together. */
export class SchemaPool {
  readonly #store = new NodeStore()
  readonly #slots: Slot[] = []
  readonly #reserved: Readonly<Record<string, JsonSchema>>

  /** `reserved` are components of the document itself; their names are not reused. */
  constructor(reserved: Readonly<Record<string, JsonSchema>>) {
    this.#reserved = reserved
  }

  /**
   * Adds a schema, or a part of a `root`. The returned object is empty until `finish` fills it.
   *
   * `place` becomes its name if it needs one and has none.
   */
  add(schema: JsonSchema, role: SchemaRole, place: string, root: JsonSchema = schema): JsonObject {
    const target: JsonObject = {}
    this.#slots.push({ target, place, body: this.#store.add(schema, role, place, root) })
    return target
  }

  /** Fills all returned objects, and returns the components that they refer to. */
  *finish(): Steps<Record<string, JsonSchema>> {
    const { nodes } = this.#store
    const same = yield* mergeNodes(nodes)
    const redirect = referTo((index) => tokenOf(same[index] as number))
    const live = new Set(same)
    for (const index of live) {
      const node = nodes[index] as SchemaNode
      node.body = mapSchemas(node.body, redirect)
      yield
    }
    for (const slot of this.#slots) {
      slot.body = mapSchemas(slot.body, redirect)
      yield
    }
    const before = nodes.length
    yield* shareObjects(nodes, live, this.#slots)
    for (let index = before; index < nodes.length; index++) live.add(index)
    const names = this.#name(live)
    const finish = referTo((index) => `#/components/schemas/${names.get(index) as string}`)
    for (const { target, body } of this.#slots) {
      for (const [key, value] of Object.entries(mapSchemas(body, finish)))
        setOwn(target, key, value)
      yield
    }
    const components = new Map<string, JsonSchema>(Object.entries(this.#reserved))
    for (const index of live) {
      const { body } = nodes[index] as SchemaNode
      components.set(names.get(index) as string, mapSchemas(body, finish))
      yield
    }
    const sorted = [...components].toSorted(([left], [right]) => (left < right ? -1 : 1))
    return Object.fromEntries(sorted)
  }

  /** The first schema with a name keeps it; others are numbered. Operations are sorted by id. */
  #name(live: ReadonlySet<number>): Map<number, string> {
    const taken = new Set(Object.keys(this.#reserved))
    const names = new Map<number, string>()
    for (const index of live) {
      const wanted = safeName((this.#store.nodes[index] as SchemaNode).wanted)
      let name = wanted
      for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`
      taken.add(name)
      names.set(index, name)
    }
    return names
  }
}

function referTo(write: (index: number) => string): (schema: JsonSchema) => JsonSchema {
  return (schema) => {
    const index = indexOfToken(schema["$ref"])
    return index === undefined ? schema : { ...schema, $ref: write(index) }
  }
}

/** A component name that OpenAPI allows: letters, digits, dots, dashes. */
function safeName(text: string): string {
  const joined = text.replaceAll(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._-]+/, "")
  const safe = trimEnd(joined, "._-")
  return safe === "" ? "Schema" : safe.slice(0, MAX_NAME)
}

const TOKENS = /"\$ref":"\\u0001(\d+)"/g

/**
 * Finds equal nodes: equal names, equal content, and references to equal nodes.
 *
 * Returns for each node the first equal one. This handles loops: nodes that look alike count as
 * equal until a reference distinguishes them.
 */
function* mergeNodes(nodes: readonly SchemaNode[]): Steps<number[]> {
  const references: number[][] = []
  const texts: string[] = []
  for (const { wanted, body } of nodes) {
    const own: number[] = []
    const text = JSON.stringify(body).replaceAll(TOKENS, (_, index: string) => {
      own.push(Number(index))
      return `"$ref":""`
    })
    references.push(own)
    texts.push(`${wanted}\n${text}`)
    yield
  }
  let classes = classesOf(texts)
  for (let count = 0; count !== classes.count;) {
    ;({ count } = classes)
    const { of } = classes
    classes = classesOf(
      references.map((own, index) => `${of[index]}:${own.map((one) => of[one]).join()}`),
    )
    yield
  }
  const first = new Map<number, number>()
  return classes.of.map((one, index) => {
    const firstIndex = first.get(one)
    if (firstIndex === undefined) first.set(one, index)
    return firstIndex ?? index
  })
}

/** Assigns numbers to keys: equal keys get equal numbers. */
function classesOf(keys: readonly string[]): { of: number[]; count: number } {
  const numbers = new Map<string, number>()
  const of = keys.map((key) => {
    const assigned = numbers.get(key)
    if (assigned === undefined) numbers.set(key, numbers.size)
    return assigned ?? numbers.size - 1
  })
  return { of, count: numbers.size }
}

interface Seen {
  readonly wanted: string
  readonly schema: JsonSchema
  count: number
  index: number | undefined
}

/** Turns objects that occur in several places into nodes, and replaces them by references. */
function* shareObjects(nodes: SchemaNode[], live: Iterable<number>, roots: Slot[]): Steps<void> {
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
    countUse(body, place, seen)
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
function countUse(schema: JsonSchema, place: string, seen: Map<string, Seen>): void {
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
    countUse(one, `${place}.${typeof key === "string" ? key : keyword}`, seen)
  })
}
