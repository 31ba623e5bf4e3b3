import { isRecord } from "../../../../src/internal/guards.ts"
import { listOf } from "../../../../src/schema/json.ts"
import { own, sameJson } from "./json.ts"
import type { Path } from "./json.ts"

/** The paths of an input that its form does not draw, although they are sent; `schema` is that of the form. */
export function unseenIn(schema: unknown, value: unknown, path: Path = []): readonly Path[] {
  // A field of its own shows the whole value.
  if (own(schema, "$id") !== undefined) return []
  // A fixed value is not drawn.
  const fixed = own(schema, "const")
  if (fixed !== undefined) return sameJson(fixed, value) ? [] : [path]
  const options = [...listOf(own(schema, "oneOf")), ...listOf(own(schema, "anyOf"))]
  if (options.length > 0) {
    // The form selects the option that fits best.
    const [best] = options
      .map((option) => unseenUnder([schema, option], value, path))
      .toSorted((a, b) => a.length - b.length)
    return best ?? []
  }
  return unseenUnder([schema], value, path)
}

function unseenUnder(schemas: readonly unknown[], value: unknown, path: Path): readonly Path[] {
  if (schemas.some((schema) => own(schema, "$id") !== undefined)) return []
  const parts = schemas.flatMap(drawnParts)
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, at) =>
      below(parts.map(itemSchema(at)), item, [...path, at]),
    )
  }
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, item]) => {
    const named = parts.map((part) => own(own(part, "properties"), name))
    const others = parts.map((part) => own(part, "additionalProperties"))
    return below([...named, ...others], item, [...path, name])
  })
}

function below(schemas: readonly unknown[], value: unknown, path: Path): readonly Path[] {
  const schema = schemas.find(isRecord)
  return schema === undefined ? [path] : unseenIn(schema, value, path)
}

function itemSchema(at: number): (part: unknown) => unknown {
  return (part) => {
    const items = own(part, "items")
    return Array.isArray(items) ? ((items as unknown[])[at] ?? own(part, "additionalItems")) : items
  }
}

/** A schema, and what its conditions add to it. */
function drawnParts(schema: unknown): readonly unknown[] {
  const dependencies = own(schema, "dependencies")
  const added = [own(schema, "then"), own(schema, "else")]
  if (isRecord(dependencies)) added.push(...Object.values(dependencies))
  return [schema, ...added.filter(isRecord).flatMap(drawnParts)]
}
