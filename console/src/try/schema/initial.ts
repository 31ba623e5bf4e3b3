import { setOwn } from "../../../../src/schema/json.ts"
import { fieldOf } from "./field.ts"
import type { Field } from "./field.ts"

const MAX_DEPTH = 6
/** Fields that are filled in: the schema may be recursive. */
const MAX_FIELDS = 1000
const MAX_ITEMS = 5

/** The initial input of an operation: required values and defaults. */
export function startValue(schema: unknown): unknown {
  return startOf(fieldOf(schema))
}

/** The initial value of a field; `undefined` if it cannot be guessed. */
export function startOf(field: Field): unknown {
  return new Filling().start(field, 0)
}

/** The initial value of a new item or group, which can be sent. */
export function emptyOf(field: Field): unknown {
  return new Filling().empty(field, 0)
}

class Filling {
  #left = MAX_FIELDS

  start(field: Field, depth: number): unknown {
    if (depth > MAX_DEPTH || --this.#left < 0) return undefined
    const { constant, kind, values = [] } = field
    const only = values.length === 1 ? values[0]?.value : undefined
    const preset = [constant, field.first("default"), only].find((value) => value !== undefined)
    if (preset !== undefined) return preset
    if (kind === "object") return this.#object(field, depth)
    if (kind === "array") return this.#array(field, depth)
    const [first] = kind === "choice" ? field.options : []
    if (first !== undefined) return this.start(first.field, depth + 1)
    // Also of what is edited as JSON.
    const [type] = field.types
    return type === "object" ? {} : type === "array" ? [] : kind === "null" ? null : undefined
  }

  empty(field: Field, depth: number): unknown {
    const started = this.start(field, depth)
    if (started !== undefined) return started
    switch (field.kind) {
      case "values":
        return field.values?.[0]?.value
      case "number": {
        const above = field.number("exclusiveMinimum")
        return field.number("minimum") ?? (above === undefined ? 0 : Math.floor(above) + 1)
      }
      case "boolean":
        return false
      case "choice":
        return field.options[0] && this.empty(field.options[0].field, depth + 1)
      default:
        return ""
    }
  }

  #object(field: Field, depth: number): unknown {
    const filled = {}
    const { required } = field
    for (const name of field.declared) {
      const child = field.property(name)
      if (child === undefined) continue
      const isOffered =
        child.first("readOnly") !== true && (child.first("default") ?? null) !== null
      if (!required.has(name) && !isOffered) continue
      // An unticked box means false already.
      const value = this.start(child, depth + 1) ?? (child.kind === "boolean" ? false : undefined)
      if (value !== undefined) setOwn(filled, name, value)
    }
    return filled
  }

  #array(field: Field, depth: number): unknown {
    const { fixed } = field
    const count = fixed > 0 ? fixed : Math.min(field.number("minItems") ?? 0, MAX_ITEMS)
    return Array.from({ length: count }, (_, index) => {
      const item = field.item(index)
      return item === undefined ? null : structuredClone(this.empty(item, depth + 1))
    })
  }
}
