import { listOf, textOf } from "../json.ts"
import { constraintsOf } from "./constraints.ts"
import type { Flat } from "./flatten.ts"
import { typeText } from "./types.ts"
import { valuesOf } from "./values.ts"

/** The facts about a value in a schema, for display. */
export interface Facts {
  readonly type: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly format: string | undefined
  /** The only values that are allowed, as JSON; a single one is a constant. */
  readonly values: readonly string[] | undefined
  readonly default: string | undefined
  readonly examples: readonly string[]
  readonly constraints: readonly string[]
  readonly isDeprecated: boolean
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
}

const MAX_EXAMPLES = 5
// Enough to read, too few to make a page slow.
const MAX_VALUES = 2000
const MAX_JSON = 200

/** Gathers the facts about a value; those of the schema itself come before those of its references. */
export function factsOf(flat: Flat): Facts {
  const first = (keyword: string): string | undefined => {
    for (const { schema } of flat.layers) {
      const text = textOf(schema[keyword])
      if (text !== undefined) return text
    }
    return undefined
  }
  const is = (keyword: string): boolean =>
    flat.layers.some(({ schema }) => schema[keyword] === true)
  return {
    type: typeText(flat),
    title: first("title"),
    description: first("description"),
    format: first("format"),
    values: valuesOf(flat)
      ?.slice(0, MAX_VALUES)
      .map((value) => jsonText(value)),
    default: defaultOf(flat),
    examples: examplesOf(flat),
    constraints: constraintsOf(flat),
    isDeprecated: is("deprecated"),
    isReadOnly: is("readOnly"),
    isWriteOnly: is("writeOnly"),
  }
}

function defaultOf(flat: Flat): string | undefined {
  const layer = flat.layers.find(({ schema }) => Object.hasOwn(schema, "default"))
  return layer && jsonText(layer.schema["default"])
}

function examplesOf(flat: Flat): readonly string[] {
  const examples = flat.layers.flatMap(({ schema }) => [
    ...listOf(schema["examples"]),
    ...(Object.hasOwn(schema, "example") ? [schema["example"]] : []),
  ])
  return [...new Set(examples.slice(0, MAX_EXAMPLES).map((value) => jsonText(value)))]
}

/** A value as JSON in one line, cut at a readable length. */
function jsonText(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? "undefined"
  return text.length > MAX_JSON ? `${text.slice(0, MAX_JSON)}…` : text
}
