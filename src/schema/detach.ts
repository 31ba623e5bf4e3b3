import { listed } from "../internal/message-text.ts"
import type { Report } from "./diagnostics.ts"
import { isRecord } from "../internal/guards.ts"
import { FILE_MARK, isFileLike } from "./files.ts"
import { childPointer, setOwn } from "./json.ts"
import { keywordShape } from "./keywords.ts"

/** Bounds of one admission; `nodes` counts down over the schema and all documents it takes in. */
export interface Budget {
  readonly depth: number
  nodes: number
}

/** Copies one member of an object (with its key) or of a list. */
type Copy = (value: unknown, depth: number, key: string | undefined) => unknown

/** Stands for "nothing usable here": the caller omits the keyword or the member. */
const DROPPED: unique symbol = Symbol("dropped")

/**
 * Copies a schema into plain data: own enumerable string keys, no accessors, no prototypes, no cycles, bounded in
 * depth and size.
 *
 * Parts that cannot be copied are reported, and accept anything. Nothing in the source (a throwing getter, a
 * Proxy, a cyclic graph) makes it throw.
 */
export function detachSchema(
  source: unknown,
  path: string,
  budget: Budget,
  report: Report,
): unknown {
  return new Detacher(path, budget, report).schema(source, 0)
}

class Detacher {
  readonly #start: string
  readonly #budget: Budget
  readonly #report: Report
  readonly #ancestors = new Set<object>()
  /** The path to the place being copied; turned into a pointer only for a diagnostic. */
  readonly #trail: Array<string | number> = []

  constructor(start: string, budget: Budget, report: Report) {
    this.#start = start
    this.#budget = budget
    this.#report = report
  }

  schema(value: unknown, depth: number): unknown {
    const copied =
      typeof value !== "object" || value === null || Array.isArray(value)
        ? this.#data(value, depth)
        : this.#object(value, depth, this.#keyword)
    // At the place of a schema, nothing usable means "anything".
    return copied === DROPPED ? true : copied
  }

  readonly #keyword: Copy = (value, depth, keyword) => {
    const shape = keywordShape(keyword as string)
    const isList = (shape === "list" || shape === "items") && Array.isArray(value)
    if (isList) return this.#array(value, depth, this.#schema)
    if (shape === "single" || shape === "items") return this.schema(value, depth)
    const isMap = (shape === "map" || shape === "dependencies") && isRecord(value)
    if (isMap) return this.#object(value, depth, shape === "map" ? this.#schema : this.#mixed)
    return keyword === "pattern" ? this.#pattern(value, depth) : this.#data(value, depth)
  }

  readonly #schema: Copy = (value, depth) => this.schema(value, depth)

  readonly #mixed: Copy = (value, depth) =>
    Array.isArray(value) ? this.#data(value, depth) : this.schema(value, depth)

  readonly #plain: Copy = (value, depth) => this.#data(value, depth)

  #data(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
      case "bigint":
        return value
      case "number":
        if (Number.isFinite(value)) return value
        return this.#refuse(`${value} is not a JSON number`)
      case "object":
        break
      default:
        // undefined, functions and symbols: absent from the JSON form of an object as well
        return DROPPED
    }
    if (value === null) return null
    if (Array.isArray(value)) return this.#array(value, depth, this.#plain)
    return this.#object(value, depth, this.#plain)
  }

  #object(source: object, depth: number, copy: Copy): unknown {
    if (!this.#enter(source, depth)) return DROPPED
    const keys = this.#keys(source)
    const target: Record<string, unknown> = {}
    for (const key of keys ?? []) {
      this.#trail.push(key)
      const value = this.#spend() ? this.#read(source, key) : DROPPED
      const copied = value === DROPPED ? DROPPED : copy(value, depth + 1, key)
      if (copied !== DROPPED) setOwn(target, key, copied)
      this.#trail.pop()
    }
    keepRefinements(source, target)
    this.#ancestors.delete(source)
    return keys === undefined ? DROPPED : target
  }

  #keys(source: object): string[] | undefined {
    try {
      const kind = Object.prototype.toString.call(source)
      if (kind === "[object Object]" || kind === "[object Module]") return Object.keys(source)
      this.#refuse(`a ${kind.slice(8, -1)} object has no JSON form`)
    } catch {
      this.#refuse("the object cannot be read")
    }
    return undefined
  }

  #array(source: unknown[], depth: number, copy: Copy): unknown {
    if (!this.#enter(source, depth)) return DROPPED
    const target: unknown[] = []
    const length = this.#read(source, "length")
    for (let index = 0; typeof length === "number" && index < length; index++) {
      if (this.#budget.nodes < 0) break
      this.#trail.push(index)
      const value = this.#spend() ? this.#read(source, String(index)) : DROPPED
      const copied = value === DROPPED ? DROPPED : this.#member(value, depth + 1, copy)
      if (copied !== DROPPED) target.push(copied)
      this.#trail.pop()
    }
    this.#ancestors.delete(source)
    return target
  }

  #member(value: unknown, depth: number, copy: Copy): unknown {
    // Leaving out a key is what JSON does; leaving out a list member changes the list.
    if (value === undefined || typeof value === "function" || typeof value === "symbol") {
      return this.#refuse(`${typeof value} has no JSON form`)
    }
    return copy(value, depth, undefined)
  }

  /** TypeBox accepts a `RegExp`; JSON knows its source only. */
  #pattern(value: unknown, depth: number): unknown {
    if (!(value instanceof RegExp)) return this.#data(value, depth)
    const extra = [...value.flags].filter((flag) => !"dguy".includes(flag))
    if (extra.length === 0) return value.source
    return this.#refuse(`a pattern has no flags in JSON Schema, and this one has ${listed(extra)}`)
  }

  #enter(source: object, depth: number): boolean {
    if (this.#budget.nodes < 0) return false
    if (this.#ancestors.has(source)) {
      this.#refuse("the object contains itself (write recursion as a $ref)")
      return false
    }
    if (depth > this.#budget.depth) {
      this.#report(
        "too-deep",
        this.#path(),
        `The schema is nested deeper than ${this.#budget.depth} levels; deeper parts accept anything. Move inner parts to $defs.`,
      )
      return false
    }
    this.#ancestors.add(source)
    return true
  }

  #spend(): boolean {
    if (this.#budget.nodes < 0) return false
    if (--this.#budget.nodes >= 0) return true
    this.#report(
      "too-large",
      this.#path(),
      "The schema is larger than its limit of nodes; from here on it accepts anything. Pass only the parts that are used, or raise limits.nodes.",
    )
    return false
  }

  #read(source: object, key: string): unknown {
    try {
      return (source as Record<string, unknown>)[key]
    } catch {
      return this.#refuse("the property cannot be read")
    }
  }

  #refuse(why: string): typeof DROPPED {
    this.#report("not-json", this.#path(), `Left out, so that anything is accepted here: ${why}.`)
    return DROPPED
  }

  #path(): string {
    return this.#trail.reduce<string>(childPointer, this.#start)
  }
}

const IS_FILE = Object.freeze([
  {
    check: isFileLike,
    error: (): string => "must be a file: a File or a Blob, or base64 text in JSON",
  },
])

/**
 * TypeBox keeps the functions of `Type.Refine` in a hidden property. They belong to the meaning of the
 * schema, so the copy carries them in the same way; JSON and equality do not see them.
 */
function keepRefinements(source: object, target: Record<string, unknown>): void {
  const { enumerable, value: own } = safeDescriptor(source, "~refine") ?? {}
  if (enumerable !== true && Array.isArray(own)) {
    Object.defineProperty(target, "~refine", { value: Object.freeze([...own]) })
  } else if (target[FILE_MARK] === "file") {
    // Schemas of other libraries, and those from a wire, can only say that a value is a file.
    Object.defineProperty(target, "~refine", { value: IS_FILE })
  }
}

function safeDescriptor(source: object, key: string): PropertyDescriptor | undefined {
  try {
    return Object.getOwnPropertyDescriptor(source, key)
  } catch {
    return undefined
  }
}
