import { essenceOf } from "../../../http-client/media-type.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { FieldModel } from "../model.ts"
import { Unwritable, withFieldName } from "./errors.ts"
import { jsonText } from "./json.ts"
import { contentKind } from "./media.ts"
import { formWriter } from "./serialize.ts"
import { deepPairs, type Pair, pairsOf } from "./styles.ts"
import { encodeForm, shapeOf } from "./text.ts"

/**
 * Writes `application/x-www-form-urlencoded`.
 *
 * A field is written by its `encoding`; without one a list of scalars is repeated, and nested values get
 * brackets. Text and `URLSearchParams` stay unchanged.
 */
export function formText(fields: ReadonlyMap<string, FieldModel>, value: unknown): string {
  if (typeof value === "string") return value
  if (value instanceof URLSearchParams) return value.toString()
  if (!isRecord(value)) throw new Unwritable("must be an object to be sent as a form")
  return Object.entries(value)
    .flatMap(([name, item]) => fieldPairs(name, item, fields.get(name)))
    .map((pair) => pair.join("="))
    .join("&")
}

/** The fields of a form in the order they are sent: declared ones first. */
export function orderedFields(
  fields: ReadonlyMap<string, FieldModel>,
  value: Readonly<Record<string, unknown>>,
): (readonly [string, unknown])[] {
  const declared = [...fields.keys()].filter((name) => Object.hasOwn(value, name))
  const others = Object.keys(value).filter((name) => !fields.has(name))
  return [...declared, ...others].map((name) => [name, value[name]])
}

/** The concrete media type of an `encoding`; `undefined` for a list or a wildcard. */
export function concreteType(field: FieldModel | undefined): string | undefined {
  if (field?.encoding?.serialization !== undefined) return undefined
  const type = field?.encoding?.contentType
  return type === undefined || type.includes("*") || type.includes(",") ? undefined : type
}

function fieldPairs(name: string, value: unknown, field: FieldModel | undefined): Pair[] {
  if (value === undefined || value === null) return []
  return withFieldName(name, () => {
    const how = field?.encoding?.serialization
    if (how !== undefined) return pairsOf(name, value, how, formWriter(how))
    const type = concreteType(field)
    if (type !== undefined && essenceOf(type) !== "" && contentKind(type) === "json") {
      return [[encodeForm(name), encodeForm(jsonText(value))]]
    }
    return nestedPairs(name, value)
  })
}

function nestedPairs(name: string, value: unknown): Pair[] {
  const shape = shapeOf(value)
  if (shape.kind === "list") {
    const items = shape.items.map(shapeOf)
    if (items.every((item) => item.kind === "scalar")) {
      return items.map((item) => [encodeForm(name), encodeForm(item.text)])
    }
  }
  return deepPairs(name, shape, formWriter(), 0)
}
