import { isPlainRecord } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { schemaList } from "./keywords.ts"
import type { Subschema } from "./keywords.ts"
import type { References } from "./references.ts"

/** A schema that applies to a value, and whether its defaults may be used. */
export interface Entry {
  readonly schema: Subschema
  readonly fill: boolean
}

/** An `Entry` in object form. */
export interface Member extends Entry {
  readonly schema: JsonSchema
}

/** Every schema that applies to one value without any condition. */
export interface Flat {
  readonly members: readonly Member[]
  /** One of them has an unresolvable reference, so that the list is incomplete. */
  readonly isPartial: boolean
}

/** Follows `$ref` and `allOf`, each schema once, nearest first. */
export function flatten(entries: readonly Entry[], refs: References): Flat {
  const fills = new Map<JsonSchema, boolean>()
  let isPartial = false
  const visit = ({ schema, fill }: Entry): void => {
    if (!isPlainRecord(schema)) return
    const before = fills.get(schema)
    // If a schema is reached twice, its defaults are usable if either way allows it.
    if (before === true || before === fill) return
    fills.set(schema, fill)
    const targets = refs.of(schema)
    if (targets === undefined) isPartial = true
    else for (const target of targets) visit({ schema: target, fill })
    for (const part of schemaList(schema, "allOf")) visit({ schema: part, fill })
  }
  for (const entry of entries) visit(entry)
  const members = Array.from(fills, ([schema, fill]) => ({ schema, fill }))
  return { members, isPartial }
}

/** The schemas that apply with `schema`. */
export function flattenOne(schema: Subschema, refs: References): Flat {
  return flatten([{ schema, fill: true }], refs)
}
