import { listed } from "./describe.ts"
import type { Report } from "./diagnostics.ts"
import { childPointer, setOwn } from "./json.ts"
import { keywordShape } from "./keywords.ts"

/** Bounds of one admission; `nodes` counts down over the schema and all documents it takes in. */
export interface Budget {
  readonly depth: number
  nodes: number
}

/** Stands for "nothing usable here": the caller leaves the keyword, or the member, out. */
const DROPPED: unique symbol = Symbol("dropped")

/**
 * Copies a schema into plain data that nobody else holds: own enumerable string keys, no accessors, no
 * prototypes, no cycles, bounded in depth and size.
 *
 * Whatever cannot be copied is reported and left open at its place; nothing the source does (a throwing
 * getter, a Proxy, a graph that contains itself) gets out as an exception.
 */
export function detachSchema(
  source: unknown,
  path: string,
  budget: Budget,
  report: Report,
): unknown {
  return new Detacher(budget, report).schema(source, path, 0)
}

class Detacher {
  readonly #budget: Budget
  readonly #report: Report
  readonly #ancestors = new Set<object>()

  constructor(budget: Budget, report: Report) {
    this.#budget = budget
    this.#report = report
  }

  schema(value: unknown, path: string, depth: number): unknown {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return this.#open(this.#data(value, path, depth))
    }
    return this.#open(this.#object(value, path, depth, (k, v, p) => this.#keyword(k, v, p, depth)))
  }

  #keyword(keyword: string, value: unknown, path: string, depth: number): unknown {
    const schemaAt = (member: unknown, at: string): unknown => this.schema(member, at, depth + 2)
    switch (keywordShape(keyword)) {
      case "single":
        return this.schema(value, path, depth + 1)
      case "items":
        if (Array.isArray(value)) return this.#array(value, path, depth + 1, schemaAt)
        return this.schema(value, path, depth + 1)
      case "list":
        if (!Array.isArray(value)) break
        return this.#array(value, path, depth + 1, schemaAt)
      case "map":
        if (typeof value !== "object" || value === null || Array.isArray(value)) break
        return this.#object(value, path, depth + 1, (_, member, at) => schemaAt(member, at))
      case "dependencies":
        if (typeof value !== "object" || value === null || Array.isArray(value)) break
        return this.#object(value, path, depth + 1, (_, member, at) =>
          Array.isArray(member) ? this.#data(member, at, depth + 2) : schemaAt(member, at),
        )
      case "data":
        if (keyword === "pattern") return this.#pattern(value, path, depth)
    }
    return this.#data(value, path, depth + 1)
  }

  #data(value: unknown, path: string, depth: number): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
      case "bigint":
        return value
      case "number":
        if (Number.isFinite(value)) return value
        return this.#refuse(path, `${value} is not a JSON number`)
      case "object":
        break
      default:
        // undefined, functions and symbols: absent from the JSON form of an object as well
        return DROPPED
    }
    if (value === null) return null
    if (Array.isArray(value)) {
      return this.#array(value, path, depth, (member, at) => this.#data(member, at, depth + 1))
    }
    return this.#object(value, path, depth, (_, member, at) => this.#data(member, at, depth + 1))
  }

  #object(
    source: object,
    path: string,
    depth: number,
    copy: (key: string, value: unknown, path: string) => unknown,
  ): unknown {
    if (!this.#enter(source, path, depth)) return DROPPED
    let keys: string[]
    let kind: string
    try {
      kind = Object.prototype.toString.call(source)
      keys = Object.keys(source)
    } catch {
      this.#ancestors.delete(source)
      return this.#refuse(path, "the object cannot be read")
    }
    if (kind !== "[object Object]" && kind !== "[object Module]") {
      this.#ancestors.delete(source)
      return this.#refuse(path, `a ${kind.slice(8, -1)} object has no JSON form`)
    }
    const target: Record<string, unknown> = {}
    for (const key of keys) {
      const at = childPointer(path, key)
      if (!this.#spend(at)) break
      const value = this.#read(source, key, at)
      const copied = value === DROPPED ? DROPPED : copy(key, value, at)
      if (copied !== DROPPED) setOwn(target, key, copied)
    }
    keepRefinements(source, target)
    this.#ancestors.delete(source)
    return target
  }

  #array(
    source: unknown[],
    path: string,
    depth: number,
    copy: (value: unknown, path: string) => unknown,
  ): unknown {
    if (!this.#enter(source, path, depth)) return DROPPED
    const target: unknown[] = []
    const length = this.#read(source, "length", path)
    for (let index = 0; typeof length === "number" && index < length; index++) {
      const at = childPointer(path, index)
      if (!this.#spend(at)) break
      const value = this.#read(source, String(index), at)
      // Leaving out a key is what JSON does; leaving out a list member changes the list.
      if (value === DROPPED) continue
      if (value === undefined || typeof value === "function" || typeof value === "symbol") {
        this.#refuse(at, `${typeof value} has no JSON form`)
        continue
      }
      const copied = copy(value, at)
      if (copied !== DROPPED) target.push(copied)
    }
    this.#ancestors.delete(source)
    return target
  }

  /** TypeBox accepts a `RegExp`; JSON knows its source only. */
  #pattern(value: unknown, path: string, depth: number): unknown {
    if (!(value instanceof RegExp)) return this.#data(value, path, depth + 1)
    const extra = [...value.flags].filter((flag) => !"dguy".includes(flag))
    if (extra.length === 0) return value.source
    return this.#refuse(
      path,
      `a pattern has no flags in JSON Schema, and this one has ${listed(extra)}`,
    )
  }

  #enter(source: object, path: string, depth: number): boolean {
    if (this.#budget.nodes < 0) return false
    if (this.#ancestors.has(source)) {
      this.#refuse(path, "the object contains itself (write recursion as a $ref)")
      return false
    }
    if (depth > this.#budget.depth) {
      this.#report(
        "too-deep",
        path,
        `The schema is nested deeper than ${this.#budget.depth} levels; what lies deeper accepts anything. Move inner parts to $defs.`,
      )
      return false
    }
    this.#ancestors.add(source)
    return true
  }

  #spend(path: string): boolean {
    if (this.#budget.nodes < 0) return false
    if (--this.#budget.nodes >= 0) return true
    this.#report(
      "too-large",
      path,
      "The schema is larger than its limit of nodes; from here on it accepts anything. Pass only the parts that are used, or raise limits.nodes.",
    )
    return false
  }

  #read(source: object, key: string, path: string): unknown {
    try {
      return (source as Record<string, unknown>)[key]
    } catch {
      return this.#refuse(path, "the property cannot be read")
    }
  }

  #refuse(path: string, why: string): typeof DROPPED {
    this.#report("not-json", path, `Left out, so that anything is accepted here: ${why}.`)
    return DROPPED
  }

  /** At the place of a schema, nothing usable means "anything". */
  #open(copied: unknown): unknown {
    return copied === DROPPED ? true : copied
  }
}

/**
 * TypeBox keeps the functions of `Type.Refine` in a hidden property. They belong to the meaning of the
 * schema, so the copy carries them in the same way; JSON and equality do not see them.
 */
function keepRefinements(source: object, target: object): void {
  const descriptor = safeDescriptor(source, "~refine")
  if (descriptor === undefined || descriptor.enumerable === true) return
  if (!Array.isArray(descriptor.value)) return
  Object.defineProperty(target, "~refine", { value: Object.freeze([...descriptor.value]) })
}

function safeDescriptor(source: object, key: string): PropertyDescriptor | undefined {
  try {
    return Object.getOwnPropertyDescriptor(source, key)
  } catch {
    return undefined
  }
}
