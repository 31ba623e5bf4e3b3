import { definitionsOf, type DefinitionSource } from "./trusted-schemas.ts"
import { isRecord } from "../internal/guards.ts"
import { type JsonSchema } from "./json.ts"
import { mapSubschemas } from "./keywords.ts"
import type { SchemaNode } from "./refs.ts"

type Test = (value: unknown) => boolean

/** Up to this many definitions are compiled together, into code that runs a little faster. */
const MAX_COMPILED_AT_ONCE = 24

/** Whether a closed schema has so many definitions that compiling them all would take noticeable time. */
export function hasManyDefinitions(schema: JsonSchema): boolean {
  return (definitionsOf(schema) ?? definitionsIn(schema)).hasMoreThan(MAX_COMPILED_AT_ONCE)
}

/** The definitions in `$defs` of a schema. */
function definitionsIn({ $defs }: JsonSchema): DefinitionSource {
  const all = isRecord($defs) ? $defs : {}
  return {
    hasMoreThan: (count) => Object.keys(all).length > count,
    get: (name) => (Object.hasOwn(all, name) ? all[name] : undefined),
  }
}

/**
 * Compiles a schema whose references all lead to its own `$defs`, each definition when data first
 * reaches it.
 *
 * A response of a large API uses a handful of hundreds of possible definitions, and compiling all of them would
 * delay its first call by most of a second.
 */
export class Parts {
  readonly #root: JsonSchema
  readonly #definitions: DefinitionSource
  readonly #compile: (part: JsonSchema) => Test
  readonly #tests = new Map<string, Test>()

  constructor(schema: JsonSchema, compile: (part: JsonSchema) => Test) {
    this.#root = schema
    this.#definitions = definitionsOf(schema) ?? definitionsIn(schema)
    this.#compile = compile
  }

  /** The check of the whole, or of a schema within it. */
  test(node: unknown = this.#root): Test {
    if (!isRecord(node)) return () => node !== false
    const walk = { looksAround: false }
    const cut = this.#cut(node, walk) as JsonSchema
    // What a referenced schema evaluated counts there, which a separate check cannot know.
    return this.#compile(walk.looksAround ? { ...node, $defs: this.#root["$defs"] } : cut)
  }

  #testOf(name: string): Test {
    let test = this.#tests.get(name)
    if (test === undefined) {
      test = this.test(this.#definitions.get(name) ?? true)
      this.#tests.set(name, test)
    }
    return test
  }

  /** The schema with a function in the place of each reference. */
  #cut(node: SchemaNode, walk: { looksAround: boolean }): SchemaNode {
    if (!isRecord(node)) return node
    const out: Record<string, unknown> = {}
    for (const keyword of Object.keys(node)) {
      // Definitions are read one by one: reading them here would create all of them.
      if (keyword === "$ref" || keyword === "$defs") continue
      if (keyword.startsWith("unevaluated")) walk.looksAround = true
      out[keyword] = mapSubschemas(keyword, node[keyword], (part) =>
        this.#cut(part as SchemaNode, walk),
      )
    }
    const { $ref } = node
    if (typeof $ref === "string") {
      const name = $ref.slice("#/$defs/".length)
      const check: Test = (value) => this.#testOf(name)(value)
      // TypeBox keeps functions here, and all code that copies a schema copies them.
      Object.defineProperty(out, "~refine", { value: [{ check, error: () => "" }] })
    }
    return out
  }
}
