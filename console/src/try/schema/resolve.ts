import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema } from "../../../../src/schema/json.ts"
import { resolveRef } from "../../../../src/schema/read/resolve-ref.ts"
import { own, schemasUnder } from "./json.ts"
import type { JsonRecord, JsonSchema } from "./json.ts"

/** Maximum number of schemas for one place: unions within unions multiply. */
const MAX_BRANCHES = 200

/** What a reference within a schema points to; `undefined` when it is not there. */
export function targetOf(root: JsonSchema, ref: unknown): JsonSchema | undefined {
  if (typeof ref !== "string" || !isRecord(root)) return undefined
  const target = resolveRef(root, ref)
  return isSchema(target) ? target : undefined
}

/**
 * Every schema that applies to the same place: the schema itself, what it refers to, and the
 * parts of `allOf`, `anyOf`, `oneOf`, `then` and `else`.
 */
export function branchesOf(root: JsonSchema, schema: JsonSchema): readonly JsonRecord[] {
  const seen = new Set<JsonSchema>()
  const branches: JsonRecord[] = []
  const waiting: JsonSchema[] = [schema]
  while (waiting.length > 0 && branches.length < MAX_BRANCHES) {
    const next = waiting.shift()
    if (next === undefined || seen.has(next) || !isRecord(next)) continue
    seen.add(next)
    branches.push(next)
    const target = targetOf(root, own(next, "$ref"))
    if (target !== undefined) waiting.push(target)
    for (const keyword of ["allOf", "anyOf", "oneOf"]) waiting.push(...schemasUnder(next, keyword))
    for (const keyword of ["then", "else"]) {
      const part = own(next, keyword)
      if (isSchema(part)) waiting.push(part)
    }
  }
  return branches
}
