import { isRecord, isSchema, own, schemasUnder } from "./json.ts"
import type { JsonRecord, JsonSchema } from "./json.ts"
import { fromPointer, valueAt } from "./pointer.ts"

/** How many schemas one place may have: unions within unions multiply. */
const MAX_BRANCHES = 200

/** What a reference within a schema points to; `undefined` when it is not there. */
export function resolveRef(root: JsonSchema, ref: string): JsonSchema | undefined {
  if (!ref.startsWith("#")) return undefined
  const found =
    ref === "#" || ref.startsWith("#/")
      ? valueAt(root, fromPointer(ref))
      : anchored(root, ref.slice(1))
  return isSchema(found) ? found : undefined
}

/**
 * Every schema that applies to the same place: the schema itself, what it refers to, and the
 * parts of `allOf`, `anyOf`, `oneOf`, `then` and `else`.
 */
export function branchesOf(root: JsonSchema, schema: JsonSchema): readonly JsonRecord[] {
  const seen = new Set<JsonSchema>()
  const found: JsonRecord[] = []
  const waiting: JsonSchema[] = [schema]
  while (waiting.length > 0 && found.length < MAX_BRANCHES) {
    const next = waiting.shift()
    if (next === undefined || seen.has(next) || !isRecord(next)) continue
    seen.add(next)
    found.push(next)
    const ref = own(next, "$ref")
    const target = typeof ref === "string" ? resolveRef(root, ref) : undefined
    if (target !== undefined) waiting.push(target)
    for (const keyword of ["allOf", "anyOf", "oneOf"]) waiting.push(...schemasUnder(next, keyword))
    for (const keyword of ["then", "else"]) {
      const part = own(next, keyword)
      if (isSchema(part)) waiting.push(part)
    }
  }
  return found
}

/** The definition with an `$anchor`; only where definitions are kept. */
function anchored(root: JsonSchema, name: string): unknown {
  for (const place of ["$defs", "definitions"]) {
    const definitions = own(root, place)
    if (!isRecord(definitions)) continue
    const found = Object.values(definitions).find((one) => own(one, "$anchor") === name)
    if (found !== undefined) return found
  }
  return undefined
}
