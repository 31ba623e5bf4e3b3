import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema } from "../../../../src/schema/json.ts"
import { namedSchemas, own, schemasUnder } from "./json.ts"
import type { JsonRecord, JsonSchema, Path } from "./json.ts"
import { isSafePattern } from "./pattern-guard.ts"
import { branchesOf } from "./resolve.ts"

/** Maximum number of schemas per place. */
const MAX_SCHEMAS = 200

/** Every schema that applies to the value at a path. */
export function schemasAt(root: JsonSchema, path: Path): readonly JsonRecord[] {
  let here = branchesOf(root, root)
  for (const part of path) {
    const below = new Set<JsonRecord>()
    for (const schema of here) {
      for (const child of childSchemas(schema, part)) {
        for (const branch of branchesOf(root, child)) {
          if (below.size < MAX_SCHEMAS) below.add(branch)
        }
      }
    }
    here = [...below]
  }
  return here
}

/** The schemas of a property or an item within one schema. */
function childSchemas(schema: JsonRecord, part: string | number): readonly JsonSchema[] {
  const name = String(part)
  const named = own(own(schema, "properties"), name)
  if (isSchema(named)) return [named]
  const patterned = namedSchemas(schema, "patternProperties")
    .filter(([pattern]) => isSafePattern(pattern) && new RegExp(pattern, "u").test(name))
    .map(([, child]) => child)
  if (patterned.length > 0) return patterned
  const others = ["additionalProperties", "unevaluatedProperties"].map((key) => own(schema, key))
  return [...others.filter(isRecord), ...itemSchemas(schema, name)]
}

function itemSchemas(schema: JsonRecord, name: string): readonly JsonSchema[] {
  if (!/^\d{1,9}$/.test(name)) return []
  const prefix = schemasUnder(schema, "prefixItems")[Number(name)]
  if (prefix !== undefined) return [prefix]
  const items = own(schema, "items")
  return isSchema(items) ? [items] : []
}
