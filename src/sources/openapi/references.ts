import { getOwn, isPlainRecord, pointerTokens } from "../../schema/json.ts"

/** A reference that was found in a document. */
export interface FoundReference {
  readonly ref: string
  /** What it stands for is a map of named things, such as all of `paths`. */
  readonly isMap: boolean
  /** What it stands for is an example, or a map of them: data, but for references in their place. */
  readonly isExample?: true
}

// Anywhere but at a local pointer. Comments and examples match too: a hit only means "look closer".
// What opens a schema, on the same line or the next, is a property that is called "$ref".
const EXTERNAL = /\$ref['"]?\s*:(?:\s*['"][^#'"]|[ \t]*[^#'"\s{[])/y

// Below these the keys are names, chosen by the author: a property may be called "example".
const MAPS: ReadonlySet<string> = new Set([
  "$defs",
  "additionalOperations",
  "callbacks",
  "content",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "encoding",
  "headers",
  "links",
  "mediaTypes",
  "parameters",
  "pathItems",
  "paths",
  "patternProperties",
  "properties",
  "requestBodies",
  "responses",
  "schemas",
  "securityDefinitions",
  "securitySchemes",
  "webhooks",
])

// What stands under these is data: a "$ref" in it is some text of an example.
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"])

/** Whether a text may refer to other files; costs a search, and no walk over the document. */
export function mentionsExternal(text: string): boolean {
  for (let at = text.indexOf("$ref"); at !== -1; at = text.indexOf("$ref", at + 4)) {
    // Nearly all references are written like this, and comparing is cheaper than an expression.
    if (text.startsWith('": "#', at + 4) || text.startsWith('":"#', at + 4)) continue
    EXTERNAL.lastIndex = at
    if (EXTERNAL.test(text)) return true
  }
  return false
}

/**
 * Finds the references below a value, where OpenAPI or JSON Schema has one; not those in examples,
 * defaults and extensions.
 *
 * What is in `seen` is not looked at again.
 */
function findReferences(value: unknown, isMap: boolean, seen: Set<object>): FoundReference[] {
  const found: FoundReference[] = []
  // A list of what is left to do: documents may be nested deeper than the stack is.
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
      if (key === "$ref" && typeof child === "string") found.push({ ref: child, isMap: named })
      else if (named) todo.push([child, false])
      else if (key === "discriminator") found.push(...mappingOf(child))
      else if (key === "examples") found.push(...examplesIn(child, seen))
      else if (!DATA.has(key) && !key.startsWith("x-")) todo.push([child, MAPS.has(key)])
    }
  }
  return found
}

/** Finds the references in what a reference stands for. */
export function referencesAt(
  root: unknown,
  { ref, isMap, isExample }: FoundReference,
  seen: Set<object>,
): FoundReference[] {
  const target = targetOf(root, ref)
  if (isExample !== true) return findReferences(target, isMap, seen)
  return isMap ? examplesIn(target, seen) : exampleRef(target, false, seen)
}

/** The file that a reference names, absolute and without fragment; `undefined` when it is no address. */
export function fileOf(ref: string, base: string): string | undefined {
  try {
    const url = new URL(ref, base)
    url.hash = ""
    return url.href
  } catch {
    return undefined
  }
}

/** The value at the fragment of a reference; the whole file where it is no pointer, or a wrong one. */
function targetOf(root: unknown, ref: string): unknown {
  const hash = ref.indexOf("#")
  if (hash < 0) return root
  let value = root
  for (const token of pointerTokens(decode(ref.slice(hash + 1))) ?? []) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, token)) return root
    value = (value as Record<string, unknown>)[token]
  }
  return value
}

/** What a 3.2 document says its own address is. */
export function selfOf(document: unknown, url: string): string | undefined {
  const self = isPlainRecord(document) ? getOwn(document, "$self") : undefined
  return typeof self === "string" ? fileOf(self, url) : undefined
}

// A mapping names schemas of the document or files; only what looks like a file is one.
function mappingOf(discriminator: unknown): FoundReference[] {
  const mapping = isPlainRecord(discriminator) ? getOwn(discriminator, "mapping") : undefined
  if (!isPlainRecord(mapping)) return []
  return Object.values(mapping)
    .filter((ref) => typeof ref === "string")
    .filter((ref) => ref.includes("/") || /\.(?:json|ya?ml)(?:#|$)/i.test(ref))
    .map((ref) => ({ ref, isMap: false }))
}

// Named examples may be references; what they hold is data. Swagger 2.0 has data by media type there.
function examplesIn(examples: unknown, seen: Set<object>): FoundReference[] {
  if (!isPlainRecord(examples) || seen.has(examples)) return []
  const found = exampleRef(examples, true, seen)
  for (const [name, example] of Object.entries(examples)) {
    if (!name.includes("/")) found.push(...exampleRef(example, false, seen))
  }
  return found
}

function exampleRef(holder: unknown, isMap: boolean, seen: Set<object>): FoundReference[] {
  if (!isPlainRecord(holder) || seen.has(holder)) return []
  seen.add(holder)
  const ref = getOwn(holder, "$ref")
  return typeof ref === "string" ? [{ ref, isMap, isExample: true }] : []
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
