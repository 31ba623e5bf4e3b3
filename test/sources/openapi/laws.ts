import type { TSchema } from "typebox"
import type { ImportedOperation } from "../../../src/from-openapi.ts"
import { pointerTokens } from "../../../src/schema/json.ts"

type Node = Readonly<Record<string, unknown>>

// Below these the keys are names; below those stands data, in which a "$ref" is only some text.
const MAPS = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"])
const DATA = new Set(["const", "default", "enum", "examples", "example", "discriminator"])

/** Finds what is wrong with schemas of imported operations; shared parts are looked at once. */
export class SchemaLaws {
  readonly #refs = new WeakMap<object, readonly string[]>()
  readonly #closed = new WeakSet()
  readonly #plain = new WeakSet()
  readonly #wantsJson: boolean

  /** `isJson: false` for documents that hold what JSON cannot say: a program made them. */
  constructor(options: { readonly isJson?: boolean } = {}) {
    this.#wantsJson = options.isJson ?? true
  }

  /** What does not hold for the schemas of an operation, in words. */
  faults(operation: ImportedOperation): string[] {
    const { inputSchema, outputSchema, errorSchemas = [] } = operation
    const schemas: Array<readonly [string, TSchema]> = [
      ["input", inputSchema],
      ["output", outputSchema],
      ...errorSchemas.map(({ code, schema }) => [code, schema] as const),
    ]
    const faults = schemas.flatMap(([what, schema]) =>
      [...this.#open(schema as Node), ...this.#unserializable(schema as Node)].map(
        (fault) => `${operation.name} ${what}: ${fault}`,
      ),
    )
    const { type, properties } = inputSchema as Node
    if (type !== "object" || typeof properties !== "object") {
      faults.push(`${operation.name} input: is no object with properties`)
    }
    return faults
  }

  /** References that lead out of the schema. */
  #open(schema: Node): string[] {
    const { $defs = {}, ...own } = schema
    const open = new Set<string>()
    const look = (node: unknown): void => {
      for (const ref of this.#refsOf(node)) {
        const name = /^#\/\$defs\/([A-Za-z0-9._-]+)$/.exec(ref)?.[1]
        if (name === undefined || !Object.hasOwn($defs as object, name)) open.add(ref)
      }
    }
    look(own)
    if (!this.#closed.has($defs as object)) {
      for (const definition of Object.values($defs as object)) look(definition)
      if (open.size === 0) this.#closed.add($defs as object)
    }
    return [...open].map((ref) => `"${ref}" leads nowhere`)
  }

  #refsOf(root: unknown): readonly string[] {
    if (typeof root !== "object" || root === null) return []
    const known = this.#refs.get(root)
    if (known !== undefined) return known
    const found = new Set<string>()
    const todo: Array<readonly [unknown, boolean]> = [[root, false]]
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const [node, isMap] = next
      if (typeof node !== "object" || node === null) continue
      if (Array.isArray(node)) {
        for (const item of node) todo.push([item, false])
        continue
      }
      for (const [key, child] of Object.entries(node)) {
        if (isMap) todo.push([child, false])
        else if (key === "$ref") found.add(String(child))
        else if (!DATA.has(key) && !key.startsWith("x-")) todo.push([child, MAPS.has(key)])
      }
    }
    const refs = [...found]
    this.#refs.set(root, refs)
    return refs
  }

  /** Parts that are not the same after a trip through JSON text. */
  #unserializable({ $defs = {}, ...own }: Node): string[] {
    if (!this.#wantsJson) return []
    const faults = this.#isJson(own) ? [] : ["does not survive JSON"]
    if (this.#plain.has($defs as object)) return faults
    for (const [name, definition] of Object.entries($defs as object)) {
      if (!this.#isJson(definition)) faults.push(`definition "${name}" does not survive JSON`)
    }
    if (faults.length === 0) this.#plain.add($defs as object)
    return faults
  }

  /** Whether a value would be the same after a trip through JSON text. */
  #isJson(value: unknown): boolean {
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0)
    if (typeof value !== "object" || value === null) {
      return value === null || typeof value === "string" || typeof value === "boolean"
    }
    if (this.#plain.has(value)) return true
    const isList = Array.isArray(value)
    if (Object.getPrototypeOf(value) !== (isList ? Array.prototype : Object.prototype)) return false
    const keys = Object.keys(value)
    const isWhole = Object.getOwnPropertySymbols(value).length === 0
    // A list with holes has fewer keys than items, one with properties has more.
    if (!isWhole || (isList && keys.length !== value.length)) return false
    if (!keys.every((key) => this.#isJson((value as Node)[key]))) return false
    this.#plain.add(value)
    return true
  }
}

/** Whether there is nothing in a document at a JSON pointer. */
export function pointsNowhere(root: unknown, pointer: string): boolean {
  let value = root
  for (const token of pointerTokens(pointer) ?? [""]) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, token)) return true
    value = (value as Node)[token]
  }
  return false
}

/** Freezes everything below a value. */
export function deepFreeze<TValue>(root: TValue): TValue {
  const todo: unknown[] = [root]
  // The list grows while it is walked.
  for (const node of todo) {
    if (typeof node !== "object" || node === null || Object.isFrozen(node)) continue
    Object.freeze(node)
    for (const child of Object.values(node)) todo.push(child)
  }
  return root
}
