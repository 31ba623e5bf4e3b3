import { isRecord } from "../internal/guards.ts"
import { withoutUndefined } from "../internal/own.ts"
import { listOf, setOwn, type JsonSchema } from "../schema/json.ts"
import { ADDRESSES, keywordShape } from "../schema/keywords.ts"
import { resolveRef } from "../schema/read/resolve-ref.ts"

/** Maximum number of inlined schemas; beyond it only outlines are written. */
const MAX_NODES = 1000

/** Keywords that are useless for a model, refused by some clients, or meaningless without references. */
const DROPPED: ReadonlySet<string> = new Set([
  ...ADDRESSES,
  ...["$dynamicRef", "$comment", "$vocabulary", "unevaluatedProperties", "unevaluatedItems"],
])

interface Walk {
  readonly root: JsonSchema
  /** Targets that are being inlined, to detect recursion. */
  readonly open: Set<unknown>
  nodes: number
}

/** Inlines references, and replaces tuples by lists and boolean schemas by objects. */
export function inlined(schema: JsonSchema): JsonSchema {
  return inlineSchema(schema, { root: schema, open: new Set(), nodes: 0 })
}

function inline(value: unknown, walk: Walk): unknown {
  if (typeof value === "boolean") return value ? {} : { not: {} }
  return isRecord(value) ? inlineSchema(value, walk) : value
}

function inlineSchema(schema: JsonSchema, walk: Walk): JsonSchema {
  if (++walk.nodes > MAX_NODES) return outline(schema)
  const { $ref, ...own } = schema
  if (typeof $ref !== "string") return walkKeywords(schema, walk)
  const target = resolveRef(walk.root, $ref)
  const rest = walkKeywords(own, walk)
  if (!isRecord(target)) return rest
  if (walk.open.has(target)) return { ...outline(target), ...rest }
  walk.open.add(target)
  const there = inlineSchema(target, walk)
  walk.open.delete(target)
  return combined(there, rest)
}

/** Combines two schemas; with `allOf` where they conflict. */
function combined(there: JsonSchema, rest: JsonSchema): JsonSchema {
  const clash = Object.keys(rest).some(
    (keyword) => keyword in there && !["title", "description", "default"].includes(keyword),
  )
  return clash ? { ...rest, allOf: [...listOf(rest["allOf"]), there] } : { ...there, ...rest }
}

function walkKeywords(schema: JsonSchema, walk: Walk): JsonSchema {
  const out: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (DROPPED.has(keyword) || keyword === "prefixItems") continue
    setOwn(out, keyword, walkKeyword(keyword, value, walk))
  }
  const { prefixItems } = schema
  if (Array.isArray(prefixItems)) {
    const places = prefixItems.map((one) => inline(one, walk))
    const others = schema["items"] === undefined || schema["items"] === false ? [] : [out["items"]]
    out["items"] = { anyOf: [...places, ...others] }
    out["description"] =
      `${typeof out["description"] === "string" ? `${out["description"]} ` : ""}One item for each of these, in this order.`
  } else if (schema["type"] === "array" && schema["items"] === undefined) out["items"] = {}
  return out
}

function walkKeyword(keyword: string, value: unknown, walk: Walk): unknown {
  const shape = keywordShape(keyword)
  if (keyword === "additionalProperties" && typeof value === "boolean") return value
  if (shape === "map" && isRecord(value)) {
    const members: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(value)) {
      // A forbidden property is left out.
      if (keyword !== "properties" || member !== false) setOwn(members, key, inline(member, walk))
    }
    return members
  }
  if (shape !== "data" && Array.isArray(value)) return value.map((one) => inline(one, walk))
  return shape === "single" || shape === "items" ? inline(value, walk) : value
}

/** The outline of a recursive or too large schema. */
function outline(schema: JsonSchema): JsonSchema {
  const { type, title, description } = schema
  return withoutUndefined({ type, items: type === "array" ? {} : undefined, title, description })
}
