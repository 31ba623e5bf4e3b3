import { parseUrl } from "../../http-client/egress.ts"
import { percentDecoded } from "../../internal/percent.ts"
import { valueAt } from "../../internal/pointer.ts"
import { isRecord } from "../../internal/guards.ts"
import { childPointer, getOwn, pointerTokens } from "../../schema/json.ts"
import { eachSubschema } from "../../schema/keywords.ts"

/** A reference in a document. */
export interface FoundReference {
  readonly ref: string
  /** The target is a map with arbitrary keys, such as `paths`. */
  readonly isMap: boolean
  /** The target is an example or a map of examples: data, except for references to examples. */
  readonly isExample?: true
}

// A `$ref` that is not a local pointer. Comments and examples match too: a match only means "look closer".
// A `$ref` whose value is an object is a property with that name.
const EXTERNAL = /\$ref['"]?\s*:(?:\s*['"][^#'"]|[ \t]*[^#'"\s{[])/y

// The keys below these are names chosen by the author: a property may be called "example".
const MAPS: ReadonlySet<string> = new Set([
  ...["$defs", "additionalOperations", "callbacks", "content", "definitions", "dependencies"],
  ...["dependentSchemas", "encoding", "headers", "links", "mediaTypes", "parameters"],
  ...["pathItems", "paths", "patternProperties", "properties", "requestBodies", "responses"],
  ...["schemas", "securityDefinitions", "securitySchemes", "webhooks"],
])

// The values of these are data: a "$ref" in them is not a reference.
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"])

/** Whether a text may refer to other files: a quick search instead of a walk over the document. */
export function mentionsExternal(text: string): boolean {
  for (let at = text.indexOf("$ref"); at !== -1; at = text.indexOf("$ref", at + 4)) {
    // Nearly all references are written like this, and comparing is cheaper than a regular expression.
    if (text.startsWith('": "#', at + 4) || text.startsWith('":"#', at + 4)) continue
    EXTERNAL.lastIndex = at
    if (EXTERNAL.test(text)) return true
  }
  return false
}

/**
 * Finds the references below a value, where OpenAPI or JSON Schema allows them; not in examples, defaults and
 * extensions.
 *
 * Skips objects in `seen`.
 */
function findReferences(value: unknown, isMap: boolean, seen: Set<object>): FoundReference[] {
  const references: FoundReference[] = []
  // A work list instead of recursion: documents may be nested deeper than the stack.
  const todo: Array<readonly [unknown, boolean]> = [[value, isMap]]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const [node, named] = next
    if (typeof node !== "object" || node === null || seen.has(node)) continue
    seen.add(node)
    if (Array.isArray(node)) {
      for (const item of node) todo.push([item, false])
      continue
    }
    for (const [key, child] of Object.entries(node)) {
      if (key === "$ref" && typeof child === "string") references.push({ ref: child, isMap: named })
      else if (named) todo.push([child, false])
      else if (key === "discriminator") references.push(...mappingOf(child))
      else if (key === "examples") references.push(...examplesIn(child, seen))
      else if (!DATA.has(key) && !key.startsWith("x-")) todo.push([child, MAPS.has(key)])
    }
  }
  return references
}

/** Finds the references in the target of a reference. */
export function referencesAt(
  root: unknown,
  { ref, isMap, isExample }: FoundReference,
  seen: Set<object>,
): FoundReference[] {
  const target = targetOf(root, ref)
  if (isExample !== true) return findReferences(target, isMap, seen)
  return isMap ? examplesIn(target, seen) : exampleRef(target, false, seen)
}

/** The file of a reference, absolute and without a fragment; `undefined` if it is not a valid URL. */
export function fileOf(ref: string, base: string): string | undefined {
  const url = parseUrl(ref, base === "" ? undefined : base)
  if (url !== undefined) url.hash = ""
  return url?.href
}

/** The value at the fragment of a reference; the whole file if that is not a valid pointer. */
function targetOf(root: unknown, ref: string): unknown {
  const hash = ref.indexOf("#")
  if (hash < 0) return root
  const target = valueAt(root, pointerTokens(percentDecoded(ref.slice(hash + 1))) ?? [])
  return target === undefined ? root : target
}

/** The `$self` of a 3.2 document. */
export function selfOf(document: unknown, url: string): string | undefined {
  const self = isRecord(document) ? getOwn(document, "$self") : undefined
  return typeof self === "string" ? fileOf(self, url) : undefined
}

// A mapping names schemas or files; only values that look like a file are one.
function mappingOf(discriminator: unknown): FoundReference[] {
  const mapping = isRecord(discriminator) ? getOwn(discriminator, "mapping") : undefined
  if (!isRecord(mapping)) return []
  return Object.values(mapping)
    .filter((ref) => typeof ref === "string")
    .filter((ref) => ref.includes("/") || /\.(?:json|ya?ml)(?:#|$)/i.test(ref))
    .map((ref) => ({ ref, isMap: false }))
}

// Named examples may be references; their values are data. In Swagger 2.0 they are data by media type.
function examplesIn(examples: unknown, seen: Set<object>): FoundReference[] {
  if (!isRecord(examples) || seen.has(examples)) return []
  const references = exampleRef(examples, true, seen)
  for (const [name, example] of Object.entries(examples)) {
    if (!name.includes("/")) references.push(...exampleRef(example, false, seen))
  }
  return references
}

function exampleRef(holder: unknown, isMap: boolean, seen: Set<object>): FoundReference[] {
  if (!isRecord(holder) || seen.has(holder)) return []
  seen.add(holder)
  const ref = getOwn(holder, "$ref")
  return typeof ref === "string" ? [{ ref, isMap, isExample: true }] : []
}

/** The schemas of a file that have an `$id` or an anchor, by that name. */
export function idsIn(root: unknown): Map<string, { value: unknown; pointer: string }> {
  const ids = new Map<string, { value: unknown; pointer: string }>()
  if (!isRecord(root)) return ids
  const components = getOwn(root, "components")
  const groups: Array<[string, unknown]> = [
    ["/components/schemas", isRecord(components) ? getOwn(components, "schemas") : undefined],
    ["/$defs", getOwn(root, "$defs")],
    ["/definitions", getOwn(root, "definitions")],
  ]
  const seen = new Set<object>()
  const visit = (value: unknown, pointer: string, depth: number): void => {
    if (!isRecord(value) || seen.has(value) || depth > 256) return
    seen.add(value)
    for (const [keyword, prefix] of [
      ["$id", ""],
      ["$anchor", "#"],
      ["$dynamicAnchor", "#"],
    ] as const) {
      const name = getOwn(value, keyword)
      if (typeof name !== "string") continue
      const key = prefix + name
      if (!ids.has(key)) ids.set(key, { value, pointer })
    }
    eachSubschema(value, (child, keyword, key) =>
      visit(
        child,
        key === undefined
          ? childPointer(pointer, keyword)
          : childPointer(childPointer(pointer, keyword), key),
        depth + 1,
      ),
    )
  }
  visit(root, "", 0)
  for (const [pointer, group] of groups) {
    if (!isRecord(group)) continue
    for (const [name, schema] of Object.entries(group))
      visit(schema, childPointer(pointer, name), 0)
  }
  return ids
}
