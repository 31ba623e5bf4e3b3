// The adjustments that TypeBox needs: a list.
import { Check } from "typebox/schema"
import { isRecord } from "../internal/guards.ts"
import { listOf, setOwn } from "./json.ts"
import { ADDRESSES, ASSERTIONS, keywordShape, mapSubschemas } from "./keywords.ts"
import { hasKey, isDeceptive, isMissing, undefinedIn } from "./presence.ts"
import type { Links, RefKeyword, SchemaNode } from "./refs.ts"
import { isNative, keyPattern, matches, safeRegExp } from "./regex/safe-regexp.ts"

/** A schema, and the schemas its references name, as TypeBox compiles them. */
export interface Prepared {
  readonly context: Record<string, SchemaNode>
  readonly schema: SchemaNode
  /** Tests that replace the regular expressions of these sources, which might be too slow. */
  readonly keyTests: ReadonlyMap<string, KeyTest>
}

/** A function besides the keywords, in the form that TypeBox runs. */
interface Refinement {
  readonly check: (value: unknown) => boolean
  readonly error: () => string
}

/**
 * Copies an admitted schema into the form that TypeBox gets.
 *
 * - `format` is left out unless it is to be asserted: TypeBox would assert it, 2020-12 does not.
 * - Each reference names an entry of the context, where it is found at once; TypeBox's own search walks the
 *   whole schema for each reference and compares paths of URIs without their hosts. Only when a `$dynamicRef`
 *   can be overridden do URIs matter at run time, and the schema is handed over with its `$id`s and anchors.
 * - A `pattern` that the native engine may take long for becomes one that takes linear time. For the names under
 *   `patternProperties`, which TypeBox compiles itself, `keyTests` has the replacements. The interpreter cannot use them:
 *   with `interpreted`, such a name is left out, and so is everything that depends on it.
 * - The pattern that `Type.Record(Type.String(), …)` has for its keys gets one that matches those of several lines, too.
 * - Where TypeBox's `in` test would be wrong (see presence.ts), functions beside the keywords correct it.
 */
export function prepareSchema(
  root: SchemaNode,
  links: Links,
  { formats, interpreted }: { readonly formats: boolean; readonly interpreted: boolean },
): Prepared {
  const native = links.index.sites.some(
    ({ node, keyword }) => keyword === "$dynamicRef" && links.dynamicName(node) !== undefined,
  )
  // A part of such a schema never matches, so that data under it stays unchanged.
  const whole = native && root !== links.root ? false : root
  return new Preparation(links, formats, native, interpreted).prepare(whole)
}

class Preparation {
  readonly #links: Links
  readonly #formats: boolean
  readonly #native: boolean
  readonly #interpreted: boolean
  readonly #tracksEvaluated: boolean
  readonly #keyTests = new Map<string, KeyTest>()
  readonly #copies = new Map<object, Record<string, unknown>>()
  readonly #keys = new Map<SchemaNode, string>()
  readonly #pending: SchemaNode[] = []

  constructor(links: Links, formats: boolean, native: boolean, interpreted: boolean) {
    this.#links = links
    this.#formats = formats
    this.#native = native
    this.#interpreted = interpreted
    this.#tracksEvaluated = links.usesUnevaluated
  }

  prepare(root: SchemaNode): Prepared {
    const context: Record<string, SchemaNode> = {}
    const schema = this.#copy(root)
    for (let node = this.#pending.pop(); node !== undefined; node = this.#pending.pop()) {
      context[this.#keys.get(node) as string] = this.#copy(node)
    }
    const keyTests = this.#keyTests
    if (this.#keys.size === 0) return { context, schema, keyTests }
    // TypeBox also searches the root for each reference; this root holds nothing to search.
    context["root"] = schema
    return { context, schema: { $ref: "root" }, keyTests }
  }

  #copy(node: SchemaNode): SchemaNode {
    if (typeof node === "boolean") return node
    const cached = this.#copies.get(node)
    if (cached !== undefined) return cached
    const copy: Record<string, unknown> = {}
    this.#copies.set(node, copy)
    for (const keyword of Object.keys(node)) {
      if (keyword === "format" && !this.#formats) continue
      if (!this.#native && !ASSERTIONS.has(keyword)) continue
      const value = patternsOf(keyword, node[keyword])
      const copied = mapSubschemas(keyword, value, (part) => this.#copy(part as SchemaNode))
      setOwn(copy, keyword, copied)
    }
    if (!this.#native) {
      for (const keyword of ["$ref", "$dynamicRef"] as const) {
        if (keyword in node) this.#link(copy, node, keyword)
      }
    }
    moveDeceptive(copy)
    if ("patternProperties" in copy) {
      if (this.#interpreted) dropSlowKeys(copy)
      else addKeyTests(copy, this.#keyTests)
    }
    const refinements = [...ownRefinements(node), ...this.#presence(node), ...extractBigints(copy)]
    if (refinements.length > 0) Object.defineProperty(copy, "~refine", { value: refinements })
    if (this.#tracksEvaluated) isolateAll(copy)
    if ("unevaluatedProperties" in copy) {
      exemptUndefined(copy)
      if (!excludesArrays(copy)) exemptArrays(copy)
    }
    return copy
  }

  #link(copy: Record<string, unknown>, node: Record<string, unknown>, keyword: RefKeyword): void {
    const target = this.#links.target(node, keyword)
    if (target === true) return
    let key = this.#keys.get(target)
    if (key === undefined) {
      key = `ref${this.#keys.size}`
      this.#keys.set(target, key)
      this.#pending.push(target)
    }
    if (!("$ref" in copy)) copy["$ref"] = key
    else addRule(copy, { $ref: key })
  }

  #presence(node: Record<string, unknown>): Refinement[] {
    const { required, dependentRequired } = node
    const refinements: Refinement[] = []
    const strict: string[] = []
    const tolerant: string[] = []
    for (const name of (required ?? []) as string[]) {
      const verdict = undefinedIn(node, name, this.#links)
      if (verdict === "unnoticed" || (verdict === "refused" && isDeceptive(name))) strict.push(name)
      else if (verdict === "allowed" && isDeceptive(name)) tolerant.push(name)
    }
    if (strict.length > 0)
      refinements.push(refinement((v) => !strict.some((k) => isMissing(v, k, false))))
    if (tolerant.length > 0)
      refinements.push(refinement((v) => tolerant.every((k) => hasKey(v, k))))
    for (const [key, keys] of Object.entries(
      (dependentRequired ?? {}) as Record<string, string[]>,
    )) {
      if (!isRuleDeceptive(key, keys)) continue
      refinements.push(refinement((v) => !hasKey(v, key) || keys.every((k) => hasKey(v, k))))
    }
    return refinements
  }
}

/** The value of a keyword, with patterns that take linear time, and those of keys as they are meant. */
function patternsOf(keyword: string, value: unknown): unknown {
  if (keyword === "pattern") return isNative(value as string) ? value : safeRegExp(value as string)
  if (keyword !== "patternProperties" || !isRecord(value)) return value
  const meant = {}
  for (const [source, schema] of Object.entries(value)) {
    const pattern = keyPattern(source)
    setOwn(meant, Object.hasOwn(meant, pattern) ? source : pattern, schema)
  }
  return meant
}

/** The functions of `Type.Refine`. */
export function ownRefinements(node: Record<string, unknown>): readonly Refinement[] {
  const descriptor = Object.getOwnPropertyDescriptor(node, "~refine")
  if (descriptor === undefined || descriptor.enumerable === true) return []
  return descriptor.value as readonly Refinement[]
}

/** Replaces keywords by equivalent ones that read own properties. */
function moveDeceptive(copy: Record<string, unknown>): void {
  const { properties, required, dependentSchemas } = copy
  const names = Array.isArray(required) ? (required as string[]) : []
  for (const [key, property] of extractDeceptive(properties)) {
    const patterns = { ...(copy["patternProperties"] as object | undefined) }
    const pattern = `^${key}$`
    const schema = names.includes(key) ? property : { anyOf: [{ type: "undefined" }, property] }
    const present = Object.hasOwn(patterns, pattern)
      ? { allOf: [(patterns as Record<string, unknown>)[pattern], schema] }
      : schema
    copy["patternProperties"] = { ...patterns, [pattern]: present }
  }
  for (const [key, schema] of extractDeceptive(dependentSchemas)) {
    const has = { type: "object" }
    Object.defineProperty(has, "~refine", { value: [refinement((v) => hasKey(v, key))] })
    addRule(copy, { if: has, then: schema })
  }
  const rules = copy["dependentRequired"]
  if (!isRecord(rules)) return
  const kept = Object.entries(rules).filter(([key, keys]) => !isRuleDeceptive(key, keys))
  copy["dependentRequired"] = Object.fromEntries(kept)
}

function excludesArrays({ type }: Record<string, unknown>): boolean {
  return type !== undefined && !(Array.isArray(type) ? type : [type]).includes("array")
}

/** Keywords whose schema applies to a part of the value, but whose evaluation TypeBox counts for the whole value. */
const LEAKING = ["contains", "unevaluatedItems", "unevaluatedProperties"] as const

/**
 * For `unevaluated*`, rewrites a schema so that only relevant evaluations count: none of a part, and none of a
 * schema that did not match. TypeBox separates those in unions only.
 */
function isolateAll(copy: Record<string, unknown>): void {
  for (const keyword of LEAKING) {
    const schema = copy[keyword]
    if (isRecord(schema) && looksFurther(schema)) copy[keyword] = { not: { not: schema } }
  }
  if ("not" in copy) copy["not"] = { anyOf: [copy["not"]] }
  if (!("if" in copy)) return
  const { if: condition, then: consequence = true, else: alternative = true } = copy
  for (const keyword of ["if", "then", "else"]) delete copy[keyword]
  const either = [
    { allOf: [condition, consequence] },
    { allOf: [{ not: { anyOf: [condition] } }, alternative] },
  ]
  addRule(copy, { anyOf: either })
}

function addRule(copy: Record<string, unknown>, rule: object): void {
  copy["allOf"] = [...listOf(copy["allOf"]), rule]
}

function looksFurther(schema: Record<string, unknown>): boolean {
  return Object.keys(schema).some(
    (key) => key === "$ref" || key === "$dynamicRef" || keywordShape(key) !== "data",
  )
}

/** An optional property that holds `undefined` is absent; TypeBox forgets that it was declared. */
function exemptUndefined(copy: Record<string, unknown>): void {
  const { unevaluatedProperties } = copy
  const absent = { type: "undefined" }
  copy["unevaluatedProperties"] =
    unevaluatedProperties === false ? absent : { anyOf: [absent, unevaluatedProperties] }
}

/** TypeBox takes the indices of an array for properties; `unevaluatedProperties` says nothing about arrays. */
function exemptArrays(copy: Record<string, unknown>): void {
  const rest: Record<string, unknown> = {}
  for (const keyword of Object.keys(copy)) {
    if (ADDRESSES.has(keyword)) continue
    rest[keyword] = copy[keyword]
    delete copy[keyword]
  }
  const { unevaluatedProperties: _, ...forArrays } = rest
  // Hidden, so not copied above; it is run once, on the outside.
  Object.assign(copy, { if: { type: "array" }, then: forArrays, else: rest })
}

/** The code generator writes a bigint in `const` and `enum` as a number, so the interpreter checks those. */
function extractBigints(copy: Record<string, unknown>): Refinement[] {
  const refinements: Refinement[] = []
  for (const keyword of ["const", "enum"]) {
    const values = copy[keyword]
    if (!(Array.isArray(values) ? values : [values]).some((v) => typeof v === "bigint")) continue
    delete copy[keyword]
    refinements.push({ check: (value) => Check({ [keyword]: values }, value), error: () => "" })
  }
  return refinements
}

function isRuleDeceptive(key: string, keys: unknown): boolean {
  return isDeceptive(key) || (keys as string[]).some(isDeceptive)
}

function extractDeceptive(map: unknown): Array<[string, unknown]> {
  if (!isRecord(map)) return []
  const taken = Object.entries(map).filter(([key]) => isDeceptive(key))
  for (const [key] of taken) delete map[key]
  return taken
}

function refinement(accepts: (value: object) => boolean): Refinement {
  return {
    check: (value) =>
      typeof value !== "object" || value === null || Array.isArray(value) || accepts(value),
    error: () => "",
  }
}

/** Tests a property name in place of a regular expression. */
export interface KeyTest {
  test(key: string): boolean
}

/**
 * Adds replacements for the regular expressions that TypeBox builds from `patternProperties`, by their sources, if
 * one of them may be slow.
 */
function addKeyTests(schema: Record<string, unknown>, tests: Map<string, KeyTest>): void {
  const sources = Object.keys(schema["patternProperties"] as object)
  if (sources.every(isNative)) return
  const regexps = sources.map((source) => safeRegExp(source))
  for (const regexp of regexps) {
    tests.set(regexp.source, { test: (key) => matches(regexp, key) === true })
  }
  const names = new Set(Object.keys(schema["properties"] ?? {}))
  // As TypeBox decides whether a name is an additional one.
  const escaped = [...names].map((name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`)
  const { source } = new RegExp(`(${[...sources, ...escaped].join("|")})`, "u")
  tests.set(source, {
    test: (key) => names.has(key) || regexps.some((regexp) => matches(regexp, key) !== false),
  })
}

/** Omits patterns of names that may be slow, and keywords that would reject the names that they allow. */
function dropSlowKeys(schema: Record<string, unknown>): void {
  const patterns = schema["patternProperties"] as Record<string, unknown>
  const sources = Object.keys(patterns)
  if (sources.every(isNative)) return
  const kept = {}
  for (const source of sources) if (isNative(source)) setOwn(kept, source, patterns[source])
  schema["patternProperties"] = kept
  for (const keyword of ["additionalProperties", "unevaluatedProperties"]) delete schema[keyword]
}
