import type { Report } from "./diagnostics.ts"
import { isRecord } from "../internal/guards.ts"
import { childPointer, getOwn, setOwn } from "./json.ts"
import { ANNOTATIONS, eachSubschema, keywordShape } from "./keywords.ts"
import { lintSchema } from "./lint.ts"

/** The supported dialects; all are converted to 2020-12. */
export type Dialect = "2020-12" | "2019-09" | "draft-07" | "draft-06" | "draft-04" | "openapi-3.0"

/** How lowering moved the parts of one schema: first token of an old pointer to the tokens now in its place. */
export type Moves = ReadonlyMap<string, readonly string[]>

/** The dependencies of a lowering, and its records for resolving references. */
export interface Lowering {
  readonly report: Report
  readonly strictNullable: boolean
  /** Checks and rewrites the patterns of one schema. */
  readonly patterns: (schema: Record<string, unknown>, path: string) => void
  /** Where each schema was written in the source. */
  readonly sourcePaths: Map<object, string>
  readonly moves: Map<object, Moves>
}

const CURRENT = "https://json-schema.org/draft/2020-12/schema"

/** The anchor that stands for `$recursiveAnchor: true` of 2019-09. */
const RECURSIVE = "recursive-anchor"

/** Beside a `$ref` of the older dialects, only these and the containers of other schemas have a meaning. */
const BESIDE_REF: ReadonlySet<string> = new Set([
  ...["$ref", "$defs", "definitions", "$schema", "$comment", "title", "description", "deprecated"],
])

/** The key of the move for pointer tokens without one of their own. */
export const ANY_TOKEN = "*"

/** The dialect that a `$schema` names; `fallback` if it is absent or unknown. */
export function dialectOf(schema: unknown, fallback: Dialect): Dialect {
  const uri = isRecord(schema) ? getOwn(schema, "$schema") : undefined
  if (typeof uri !== "string") return fallback
  const match = /^https?:\/\/json-schema\.org\/(?:draft\/)?(draft-0[467]|2019-09|2020-12)\//.exec(
    uri,
  )
  return (match?.[1] as Dialect | undefined) ?? fallback
}

/**
 * Rewrites a detached schema, in place, to 2020-12: well-formed keywords only, each with today's meaning.
 *
 * Only schema positions are walked, so that properties called `id`, `nullable` or `$ref` stay what they are.
 */
export function lowerSchema(
  schema: unknown,
  path: string,
  dialect: Dialect,
  lowering: Lowering,
): unknown {
  const recursive = isRecord(schema) && getOwn(schema, "$recursiveAnchor") === true
  return lowerNode(schema, path, dialect, recursive, lowering)
}

/** Lowers a schema at a path within another one. */
type Lower = (node: unknown, path: string) => unknown

function lowerNode(
  node: unknown,
  path: string,
  dialect: Dialect,
  recursive: boolean,
  lowering: Lowering,
): unknown {
  if (!isRecord(node)) return node
  lowering.sourcePaths.set(node, path)

  const ignoresSiblings = dialect !== "2020-12" && dialect !== "2019-09"
  if (ignoresSiblings && typeof node["$ref"] === "string") {
    dropSiblings(node, dialect === "openapi-3.0" && !lowering.strictNullable)
  }
  if (dialect === "draft-04") renameId(node)
  if (dialect === "draft-04" || dialect === "openapi-3.0") lowerLimits(node)
  lowerAnchors(node)
  lintSchema(node, path, lowering.report)
  const startsResource = typeof node["$id"] === "string"
  const recursiveHere = startsResource ? node["$recursiveAnchor"] === true : recursive
  lowerRecursion(node, recursiveHere)
  lowering.patterns(node, path)
  // The result has to be read as 2020-12 when it is admitted again.
  if (dialectOf(node, "2020-12") !== "2020-12") node["$schema"] = CURRENT

  const lower: Lower = (child, at) =>
    lowerNode(child, at, dialectOf(child, dialect), recursiveHere, lowering)
  eachSubschema(node, (_, keyword, key) => {
    const at = childPointer(path, keyword)
    if (key === undefined) {
      node[keyword] = lower(node[keyword], at)
      return
    }
    const members = node[keyword] as Record<string | number, unknown>
    const lowered = lower(members[key], childPointer(at, key))
    if (typeof key === "number") members[key] = lowered
    else setOwn(members, key, lowered)
  })
  moveTuple(node, path, lower, lowering)
  moveDependencies(node, path, lower, lowering)
  if (dialect === "openapi-3.0" && "nullable" in node) return lowerNullable(node, lowering)
  return node
}

function dropSiblings(node: Record<string, unknown>, keepNullable: boolean): void {
  for (const key of Object.keys(node)) {
    if (BESIDE_REF.has(key) || key.startsWith("x-")) continue
    if (keepNullable && key === "nullable") continue
    delete node[key]
  }
}

function renameId(node: Record<string, unknown>): void {
  if (typeof node["id"] !== "string") return
  node["$id"] = node["id"]
  delete node["id"]
}

/** `minimum: 3, exclusiveMinimum: true` of old is `exclusiveMinimum: 3` today. */
function lowerLimits(node: Record<string, unknown>): void {
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof node[flag] !== "boolean") continue
    if (node[flag] && typeof node[limit] === "number") {
      node[flag] = node[limit]
      delete node[limit]
    } else {
      delete node[flag]
    }
  }
}

/** `$id: "#name"` was an anchor until draft-07; a trailing empty fragment says nothing. */
function lowerAnchors(node: Record<string, unknown>): void {
  const id = node["$id"]
  if (typeof id !== "string" || !id.includes("#")) return
  const hash = id.indexOf("#")
  const anchor = id.slice(hash + 1)
  if (hash === 0) delete node["$id"]
  else node["$id"] = id.slice(0, hash)
  if (/^[A-Za-z_][-A-Za-z0-9._]*$/.test(anchor)) node["$anchor"] ??= anchor
}

/** `$recursiveRef` and `$recursiveAnchor` of 2019-09 are the dynamic reference of one fixed name. */
function lowerRecursion(node: Record<string, unknown>, recursive: boolean): void {
  if (!("$recursiveAnchor" in node) && !("$recursiveRef" in node)) return
  if (node["$recursiveAnchor"] === true && !("$dynamicAnchor" in node)) {
    node["$dynamicAnchor"] = RECURSIVE
  }
  delete node["$recursiveAnchor"]
  if (node["$recursiveRef"] === "#") {
    if (recursive) node["$dynamicRef"] ??= `#${RECURSIVE}`
    else if (!("$ref" in node)) node["$ref"] = "#"
    else node["allOf"] = [...(Array.isArray(node["allOf"]) ? node["allOf"] : []), { $ref: "#" }]
  }
  delete node["$recursiveRef"]
}

/**
 * A list under `items` is a tuple, in every dialect: 2020-12 itself has no meaning for it, and its
 * `prefixItems` is what the author (or TypeBox's `Type.Tuple`) means.
 */
function moveTuple(
  node: Record<string, unknown>,
  path: string,
  lower: Lower,
  lowering: Lowering,
): void {
  const { items, additionalItems } = node
  if (!Array.isArray(items)) return
  const at = childPointer(path, "items")
  const prefix = items.map((item: unknown, index) => lower(item, childPointer(at, index)))
  rename(node, "items", "prefixItems", prefix)
  if (prefix.length === 0) delete node["prefixItems"]
  if (additionalItems !== undefined) rename(node, "additionalItems", "items", additionalItems)
  addMoves(lowering, node, [
    ["items", ["prefixItems"]],
    ["additionalItems", ["items"]],
  ])
}

function moveDependencies(
  node: Record<string, unknown>,
  path: string,
  lower: Lower,
  lowering: Lowering,
): void {
  const { dependencies } = node
  if (!isRecord(dependencies)) return
  delete node["dependencies"]
  const required = { ...(node["dependentRequired"] as object | undefined) }
  const schemas = { ...(node["dependentSchemas"] as object | undefined) }
  for (const [key, value] of Object.entries(dependencies)) {
    const at = childPointer(childPointer(path, "dependencies"), key)
    if (Array.isArray(value)) setOwn(required, key, value)
    else setOwn(schemas, key, lower(value, at))
  }
  if (Object.keys(required).length > 0) node["dependentRequired"] = required
  if (Object.keys(schemas).length > 0) node["dependentSchemas"] = schemas
  addMoves(lowering, node, [["dependencies", ["dependentSchemas"]]])
}

/**
 * `nullable: true` of OpenAPI 3.0.
 *
 * By the letter it works beside a `type` only, and an `enum` without null still excludes null. Documents in
 * the wild mean "or null" in both cases, and beside `allOf` or a `$ref` too; that is the default.
 */
function lowerNullable(node: Record<string, unknown>, lowering: Lowering): unknown {
  const { nullable, type } = node
  delete node["nullable"]
  if (nullable !== true) return node
  const lenient = !lowering.strictNullable
  const united = ["allOf", "anyOf", "oneOf", "not", "const"].some((keyword) => keyword in node)
  if (typeof type === "string" && !(lenient && united)) {
    node["type"] = type === "null" ? type : [type, "null"]
    const { enum: values } = node
    if (lenient && Array.isArray(values) && !values.includes(null)) node["enum"] = [...values, null]
    return node
  }
  if (!lenient || Object.keys(node).every(isAnnotation)) return node
  return wrapNullable(node, lowering)
}

/** Whether a keyword is about the whole value, so that it belongs beside the union with null rather than into it. */
function isAnnotation(keyword: string): boolean {
  const isWords = ANNOTATIONS.has(keyword) && keywordShape(keyword) === "data"
  return isWords || keyword.startsWith("x-")
}

function wrapNullable(node: Record<string, unknown>, lowering: Lowering): unknown {
  const outer: Record<string, unknown> = {}
  for (const key of Object.keys(node)) {
    if (!isAnnotation(key)) continue
    outer[key] = node[key]
    delete node[key]
  }
  outer["anyOf"] = [node, { type: "null" }]
  lowering.sourcePaths.set(outer, lowering.sourcePaths.get(node) ?? "")
  addMoves(lowering, outer, [[ANY_TOKEN, ["anyOf", "0"]]])
  return outer
}

/** Replaces a key by another one at the same place in the order of keys. */
function rename(node: Record<string, unknown>, from: string, to: string, value: unknown): void {
  const entries = Object.entries(node)
  for (const [key] of entries) delete node[key]
  for (const [key, old] of entries) {
    if (key === from) setOwn(node, to, value)
    else if (key !== to) setOwn(node, key, old)
  }
}

function addMoves(
  lowering: Lowering,
  node: object,
  moves: ReadonlyArray<readonly [string, readonly string[]]>,
): void {
  lowering.moves.set(node, new Map([...(lowering.moves.get(node) ?? []), ...moves]))
}
