import type { JsonSchema } from "../../../schema/json.ts"
import type { Steps } from "./model.ts"
import { NodeStore, type SchemaNode } from "./schema-nodes.ts"
import { trimEnd } from "../../../internal/trim-end.ts"

const MAX_NAME = 100

/** The schemas of a document: added one by one, and finished together. */
export class SchemaPool extends NodeStore {
  readonly #reserved: Readonly<Record<string, JsonSchema>>

  /** `reserved` are components of the document itself; their names are not reused. */
  constructor(reserved: Readonly<Record<string, JsonSchema>>) {
    super()
    this.#reserved = reserved
  }

  /** Completes the references in all copies, and returns the components that they lead to. */
  *finish(): Steps<Record<string, JsonSchema>> {
    const { nodes, references } = this
    const same = yield* mergeNodes(nodes)
    const live = new Set(same)
    const names = this.#name(live)
    for (const { holder, index } of references) {
      holder["$ref"] = `#/components/schemas/${names.get(same[index] as number)}`
      yield
    }
    const components = new Map<string, JsonSchema>(Object.entries(this.#reserved))
    for (const index of live) {
      components.set(names.get(index) as string, (nodes[index] as SchemaNode).body)
    }
    const sorted = [...components].toSorted(([left], [right]) => (left < right ? -1 : 1))
    return Object.fromEntries(sorted)
  }

  /** The first schema with a name keeps it; others are numbered. Operations are sorted by id. */
  #name(live: ReadonlySet<number>): Map<number, string> {
    const taken = new Set(Object.keys(this.#reserved))
    const names = new Map<number, string>()
    for (const index of live) {
      const wanted = safeName((this.nodes[index] as SchemaNode).wanted)
      let name = wanted
      for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`
      taken.add(name)
      names.set(index, name)
    }
    return names
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
