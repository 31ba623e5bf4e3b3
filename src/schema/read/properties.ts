import { isRecord } from "../../internal/guards.ts"
import { addToList } from "../../internal/lists.ts"
import { listOf } from "../json.ts"
import type { Flat } from "./flatten.ts"
import type { Part } from "./resolve-ref.ts"

/** Declared properties by name, in order; a property may have several schemas, which all apply. */
export function propertiesOf({ layers }: Flat): ReadonlyMap<string, readonly Part[]> {
  const byName = new Map<string, Part[]>()
  for (const { schema, scope } of layers) {
    const { properties } = schema
    if (!isRecord(properties)) continue
    for (const [name, property] of Object.entries(properties)) {
      addToList(byName, name, { schema: property, scope })
    }
  }
  return byName
}

/** Names that an object must have. */
export function requiredOf({ layers }: Flat): ReadonlySet<string> {
  return new Set(layers.flatMap(({ schema }) => listOf(schema["required"]).map(String)))
}
