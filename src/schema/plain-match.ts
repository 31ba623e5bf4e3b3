import { isOfType, type JsonSchema } from "./json.ts"

type Keywords = Readonly<Record<string, (setting: never, value: never) => boolean>>

const KEYWORDS: Keywords = {
  type: (types: string | readonly string[], value: unknown) =>
    [types].flat().some((type) => isOfType(value, type)),
  enum: (values: readonly unknown[], value: unknown) => values.includes(value),
  // Lengths count characters, and a character may have two code units: a text never has more characters than units.
  minLength: (length: number, text: string) => length <= 1 && text.length >= length,
  maxLength: (length: number, text: string) => text.length <= length,
  pattern: (pattern: string, text: string) => new RegExp(pattern, "u").test(text),
  minimum: (minimum: number, value: number) => value >= minimum,
  maximum: (maximum: number, value: number) => value <= maximum,
  items: (item: JsonSchema, list: readonly unknown[]) =>
    [...list].every((value) => matches(item, value)),
  required: (names: readonly string[], record: object) =>
    names.every((name) => Object.hasOwn(record, name)),
  dependentRequired: (names: Readonly<Record<string, string[]>>, record: object) =>
    Object.entries(names).every(
      ([name, others]) =>
        !(name in record) || others.every((other) => Object.hasOwn(record, other)),
    ),
  properties: (
    parts: Readonly<Record<string, JsonSchema>>,
    record: Readonly<Record<string, unknown>>,
  ) =>
    Object.entries(parts).every(([name, part]) => !(name in record) || matches(part, record[name])),
}

/**
 * Whether a value certainly matches one of the library's own schemas. The schema is not compiled, because compiling
 * takes longer than checking a hundred values in this way.
 *
 * Supports only the keywords of those schemas, each after a `type`. If it returns `false`, check the value with the
 * compiled schema.
 */
export function surelyMatches(schema: JsonSchema, value: unknown): boolean {
  try {
    return matches(schema, value)
  } catch {
    return false
  }
}

function matches(schema: JsonSchema, value: unknown): boolean {
  return Object.entries(schema).every(
    ([keyword, setting]) => KEYWORDS[keyword]?.(setting as never, value as never) === true,
  )
}
