import { hasKeys, isSchema, listOf } from "../../../../src/schema/json.ts"
import { flatten } from "../../../../src/schema/read/flatten.ts"
import type { Layer } from "../../../../src/schema/read/flatten.ts"
import { scopeOf } from "../../../../src/schema/read/resolve-ref.ts"
import type { Part } from "../../../../src/schema/read/resolve-ref.ts"
import { namedSchemas, own } from "./json.ts"
import type { JsonRecord, JsonSchema, Path } from "./json.ts"
import { isSafePattern } from "./pattern-guard.ts"

/** Maximum number of schemas per place: unions within unions multiply. */
const MAX_SCHEMAS = 200

const NULL = { type: "null" }

/** Every schema that may apply to the value at a path, with all members of unions and conditions. */
export function schemasAt(root: JsonSchema, path: Path): readonly JsonRecord[] {
  let here = layersOf([{ schema: root, scope: scopeOf(root) }])
  for (const token of path) {
    here = layersOf(
      here.flatMap(({ schema, scope }) =>
        childSchemas(schema, String(token)).map((child) => ({ schema: child, scope })),
      ),
    )
  }
  return here.map(({ schema }) => schema)
}

function layersOf(parts: readonly Part[]): readonly Layer[] {
  const layers = new Map<unknown, Layer>()
  // It grows while it is walked.
  const waiting = [...parts]
  for (const part of waiting) {
    if (layers.has(part.schema) || layers.size >= MAX_SCHEMAS) continue
    const flat = flatten([part])
    if (flat.isNullable) layers.set(NULL, { schema: NULL, scope: part.scope })
    for (const layer of flat.layers) {
      if (layers.has(layer.schema)) continue
      layers.set(layer.schema, layer)
      const { then, else: otherwise } = layer.schema
      for (const schema of [then, otherwise]) waiting.push({ schema, scope: layer.scope })
    }
    waiting.push(...flat.unions.flatMap((union) => union.parts))
  }
  return [...layers.values()]
}

/** The schemas of a property or an item within one schema. */
function childSchemas(schema: JsonRecord, name: string): readonly unknown[] {
  const named = own(own(schema, "properties"), name)
  if (isSchema(named)) return [named]
  const patterned = namedSchemas(schema, "patternProperties")
    .filter(([pattern]) => isSafePattern(pattern) && new RegExp(pattern, "u").test(name))
    .map(([, child]) => child)
  if (patterned.length > 0) return patterned
  const { additionalProperties, unevaluatedProperties, prefixItems, items } = schema
  const item = /^\d{1,9}$/.test(name) ? (listOf(prefixItems)[Number(name)] ?? items) : undefined
  return [additionalProperties, unevaluatedProperties, item].filter(hasKeys)
}
