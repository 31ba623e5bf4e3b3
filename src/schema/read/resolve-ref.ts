import { percentDecoded } from "../../internal/percent.ts"
import { valueAt } from "../../internal/pointer.ts"
import { isObject, isRecord } from "../../internal/guards.ts"
import { getOwn, type JsonSchema, pointerTokens } from "../json.ts"

/** The scope of a schema's references. */
export interface Scope {
  /** The whole document. */
  readonly document: JsonSchema
  /** The part that `#` means: the nearest schema with an `$id`, else the document. */
  readonly resource: JsonSchema
}

/** A schema, and where its references lead. */
export interface Part {
  readonly schema: unknown
  readonly scope: Scope
}

/** The target of a reference, and its name. */
export interface Target extends Part {
  readonly name: string | undefined
}

/** The scope of a whole document. */
export function scopeOf(document: unknown): Scope {
  const root = isRecord(document) ? document : {}
  return { document: root, resource: root }
}

/** The scope of what is inside a schema: one with an `$id` is a document of its own. */
export function scopeWithin(schema: JsonSchema, scope: Scope): Scope {
  return typeof schema["$id"] === "string" && schema !== scope.document
    ? { document: scope.document, resource: schema }
    : scope
}

/** The schema that a reference from the root of a document leads to; `undefined` if there is none. */
export function resolveRef(document: JsonSchema, reference: string): unknown {
  return follow(reference, scopeOf(document))?.schema
}

/**
 * The target of a reference: by its place, by `$id` or anchor, or by the name of a definition.
 * `undefined` if it is not part of the document.
 */
export function follow(reference: string, scope: Scope): Target | undefined {
  if (reference === "#") return { schema: scope.resource, scope, name: nameOf(scope.resource) }
  if (reference.startsWith("#/")) return byPointer(reference.slice(1), scope)
  const schema = idsOf(scope.document).get(reference)
  if (schema !== undefined) return targetOf(schema, scope, lastOf(reference))
  const hash = reference.indexOf("#")
  if (hash < 0) {
    const { $defs } = scope.resource
    const definition = isRecord($defs) ? getOwn($defs, reference) : undefined
    return definition === undefined ? undefined : targetOf(definition, scope, reference)
  }
  const resource = idsOf(scope.document).get(reference.slice(0, hash))
  if (resource === undefined) return undefined
  return follow(reference.slice(hash), { document: scope.document, resource })
}

function byPointer(pointer: string, scope: Scope): Target | undefined {
  const tokens = pointerTokens(percentDecoded(pointer)) ?? []
  const target = valueAt(scope.resource, tokens)
  if (target === undefined) return undefined
  const isNamed = /\/(?:\$defs|definitions|schemas)\/[^/]*$/.test(pointer)
  return targetOf(target, scope, isNamed ? tokens.at(-1) : undefined)
}

function targetOf(schema: unknown, scope: Scope, name: string | undefined): Target {
  const within = isRecord(schema) ? scopeWithin(schema, scope) : scope
  return {
    schema,
    scope: within,
    name: name ?? (isRecord(schema) ? nameOf(schema) : undefined),
  }
}

function nameOf({ title, $id }: JsonSchema): string | undefined {
  if (typeof title === "string" && title !== "") return title
  return typeof $id === "string" ? lastOf($id) : undefined
}

function lastOf(reference: string): string | undefined {
  return /[^/#]+$/.exec(reference)?.[0]
}

const idsByDocument = new WeakMap<JsonSchema, ReadonlyMap<string, JsonSchema>>()

/** Schemas by `$id` and `#anchor`; looked for only when a reference needs it. */
function idsOf(document: JsonSchema): ReadonlyMap<string, JsonSchema> {
  let ids = idsByDocument.get(document)
  if (ids === undefined) idsByDocument.set(document, (ids = findIds(document)))
  return ids
}

function findIds(document: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const ids = new Map<string, JsonSchema>()
  const waiting: unknown[] = [document]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (isObject(node)) for (const child of Object.values(node)) waiting.push(child)
    if (!isRecord(node)) continue
    const { $id, $anchor, $dynamicAnchor } = node
    if (typeof $id === "string" && !ids.has($id)) ids.set($id, node)
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor === "string" && !ids.has(`#${anchor}`)) ids.set(`#${anchor}`, node)
    }
  }
  return ids
}
