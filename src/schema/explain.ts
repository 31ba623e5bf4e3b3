// Explains each keyword: a long list.
import { Check } from "typebox/schema"
import { reasonOf } from "../internal/message-text.ts"
import { containsMessage, foldUnion, limitMessage, typeIssue, valueIssue } from "./issues.ts"
import type { RawIssue, SchemaIssue } from "./issues.ts"
import { isRecord } from "../internal/guards.ts"
import { childPointer, isNoValue, isOfType, type JsonSchema } from "./json.ts"
import { type Keyword, keywordsWhere } from "./keywords.ts"
import { ownRefinements } from "./prepare.ts"
import { hasKey, isMissing, undefinedIn } from "./presence.ts"
import type { Links, Resource, SchemaNode } from "./refs.ts"
import { keyPattern, matches, safeRegExp } from "./regex/safe-regexp.ts"

type Node = Record<string, unknown>

/** Evaluated properties or items, for `unevaluatedProperties` and `unevaluatedItems`; tracked only if a schema has those. */
type Evaluated = Set<string | number>

/** One schema applied to one value. */
interface Place {
  readonly schema: Node
  readonly value: unknown
  readonly path: string
  readonly scope: readonly Resource[]
  readonly evaluated: Evaluated | undefined
  readonly out: RawIssue[]
  readonly limit: number
}

/** Maximum number of visited schemas: a value can be far more expensive to explain than to check. */
const MAX_VISITS = 200_000

const LIMITS: ReadonlySet<string> = new Set(["count", "number", "positive", "flag", "text"])
const limitsOf = (type: Keyword["of"]): ReadonlySet<string> =>
  keywordsWhere(({ of, form }) => of === type && form !== undefined && LIMITS.has(form))
const STRING_LIMITS = limitsOf("string")
const NUMBER_LIMITS = limitsOf("number")
const ARRAY_LIMITS = limitsOf("array")
const OBJECT_LIMITS = limitsOf("object")

/**
 * Explains why a value does not match, with the issues of unions folded.
 *
 * For values that are known not to match. It walks the schema itself, because TypeBox's `Errors` lists the
 * issues of every branch, omits those inside `then`, and stops at a process-wide limit. Single keywords are
 * checked by TypeBox, so that both agree.
 */
export function explain(
  root: JsonSchema,
  links: Links,
  value: unknown,
  max: number,
  formats: boolean,
): SchemaIssue[] {
  const issues: RawIssue[] = []
  const explainer = new Explainer(links, formats)
  try {
    explainer.visit(root, value, "", [], issues, max)
  } catch (thrown) {
    if (thrown !== EXHAUSTED) throw thrown
  }
  const unique = new Map<string, SchemaIssue>()
  for (const { path, keyword, message } of issues) {
    unique.set(`${path}\n${message}`, { path, keyword, message })
  }
  return [...unique.values()].slice(0, max)
}

const EXHAUSTED = new Error("exhausted")

class Explainer {
  readonly #links: Links
  readonly #formats: boolean
  readonly #tracksEvaluated: boolean
  #visits = 0

  constructor(links: Links, formats: boolean) {
    this.#links = links
    this.#formats = formats
    this.#tracksEvaluated = links.usesUnevaluated
  }

  /** Adds issues to `out`; returns what was evaluated. */
  visit(
    schema: SchemaNode,
    value: unknown,
    path: string,
    outer: readonly Resource[],
    out: RawIssue[],
    limit: number,
  ): Evaluated | undefined {
    const evaluated: Evaluated | undefined = this.#tracksEvaluated ? new Set() : undefined
    if (++this.#visits > MAX_VISITS) throw EXHAUSTED
    if (schema === true || out.length >= limit) return evaluated
    if (schema === false) {
      out.push({ path, keyword: "false", message: "is not allowed" })
      return evaluated
    }
    const scope = this.#enter(schema, outer)
    const at: Place = { schema, value, path, scope, evaluated, out, limit }
    const before = out.length
    // Further issues of a value of the wrong type are noise.
    if (!this.#type(at)) return evaluated
    this.#values(at)
    if (typeof value === "string") this.#limits(at, STRING_LIMITS)
    else if (typeof value === "number" || typeof value === "bigint") {
      if (Number.isFinite(value) || typeof value === "bigint") this.#limits(at, NUMBER_LIMITS)
    } else if (Array.isArray(value)) this.#array(at, value)
    else if (typeof value === "object" && value !== null) this.#object(at, value as Node)
    this.#references(at)
    this.#combinations(at)
    if (Array.isArray(value)) this.#unevaluated(at, "unevaluatedItems", value.keys())
    else if (isRecord(value)) {
      const present = Object.keys(value).filter((key) => value[key] !== undefined)
      this.#unevaluated(at, "unevaluatedProperties", present)
    }
    if (out.length === before) this.#refinements(at)
    return evaluated
  }

  /** Applies another schema to a part of the value. */
  #child({ scope, out, limit }: Place, schema: SchemaNode, value: unknown, path: string): void {
    this.visit(schema, value, path, scope, out, limit)
  }

  /** Applies another schema to the same value, which has to match too. */
  #same(at: Place, schema: SchemaNode): void {
    merge(at, this.#branch(at, schema, at.out, at.limit))
  }

  /** Applies another schema to the same value, with its issues kept apart. */
  #branch(at: Place, schema: SchemaNode, out: RawIssue[], limit: number): Evaluated | undefined {
    return this.visit(schema, at.value, at.path, at.scope, out, limit)
  }

  #matches({ path, scope }: Place, schema: SchemaNode, value: unknown): boolean {
    const issues: RawIssue[] = []
    this.visit(schema, value, path, scope, issues, 1)
    return issues.length === 0
  }

  #rest(
    at: Place,
    keyword: string,
    schema: SchemaNode,
    value: unknown,
    key: string | number,
  ): void {
    const path = childPointer(at.path, key)
    if (schema === false) add(at, { path, keyword, message: "is not allowed" })
    else this.#child(at, schema, value, path)
  }

  #enter(schema: Node, outer: readonly Resource[]): readonly Resource[] {
    const resource = this.#links.index.resourceOf.get(schema)
    if (resource === undefined || outer[outer.length - 1] === resource) return outer
    return [...outer, resource]
  }

  #type(at: Place): boolean {
    const { type } = at.schema
    if (type === undefined) return true
    const types = (Array.isArray(type) ? type : [type]) as string[]
    if (types.some((name) => isOfType(at.value, name))) return true
    if (types.includes("constructor") && Check({ type: "constructor" }, at.value)) return true
    add(at, typeIssue(at.path, types, at.value))
    return false
  }

  #values(at: Place): void {
    const { schema, value, path } = at
    if ("const" in schema && !Check({ const: schema["const"] }, value)) {
      add(at, valueIssue(path, "const", [schema["const"]]))
    }
    if (Array.isArray(schema["enum"]) && !Check({ enum: schema["enum"] }, value)) {
      add(at, valueIssue(path, "enum", schema["enum"]))
    }
  }

  #limits(at: Place, keywords: ReadonlySet<string>): void {
    const { schema, value, path } = at
    for (const keyword of keywords) {
      const limit = schema[keyword]
      if (limit === undefined || (keyword === "format" && !this.#formats)) continue
      const checked = keyword === "pattern" ? safeRegExp(limit as string) : limit
      if (Check({ [keyword]: checked }, value)) continue
      add(at, { path, keyword, message: limitMessage(keyword, limit) })
    }
  }

  #array(at: Place, value: readonly unknown[]): void {
    const { schema, path, evaluated } = at
    this.#limits(at, ARRAY_LIMITS)
    const prefix = (schema["prefixItems"] ?? []) as SchemaNode[]
    const rest = schema["items"] as SchemaNode | undefined
    value.forEach((item, index) => {
      const member = prefix[index] ?? (index < prefix.length ? undefined : rest)
      if (member === undefined) return
      this.#child(at, member, item, childPointer(path, index))
      evaluated?.add(index)
    })
    const contains = schema["contains"] as SchemaNode | undefined
    if (contains === undefined) return
    let count = 0
    value.forEach((item, index) => {
      if (!this.#matches(at, contains, item)) return
      count++
      evaluated?.add(index)
    })
    const min = (schema["minContains"] ?? 1) as number
    const max = (schema["maxContains"] ?? Infinity) as number
    if (count >= min && count <= max) return
    const keyword = count > max ? "maxContains" : "contains"
    add(at, { path, keyword, message: containsMessage(min, max, count) })
  }

  #object(at: Place, value: Node): void {
    const { schema, path, evaluated } = at
    this.#limits(at, OBJECT_LIMITS)
    const missing = this.#required(at, value)
    const properties = (schema["properties"] ?? {}) as Record<string, SchemaNode>
    const patterns = Object.entries(
      (schema["patternProperties"] ?? {}) as Record<string, SchemaNode>,
    )
    const additional = schema["additionalProperties"] as SchemaNode | undefined
    const names = schema["propertyNames"] as SchemaNode | undefined
    for (const [key, property] of Object.entries(properties)) {
      if (missing.has(key) || !hasKey(value, key)) continue
      evaluated?.add(key)
      const required = Array.isArray(schema["required"]) && schema["required"].includes(key)
      if (value[key] === undefined && !required) continue
      this.#child(at, property, value[key], childPointer(path, key))
    }
    for (const key of Object.keys(value)) {
      const here = childPointer(path, key)
      let declared = Object.hasOwn(properties, key)
      for (const [pattern, property] of patterns) {
        const matched = matches(safeRegExp(keyPattern(pattern)), key)
        if (matched === false) continue
        declared = true
        if (matched === undefined) continue
        evaluated?.add(key)
        this.#child(at, property, value[key], here)
      }
      if (additional !== undefined && !declared) {
        evaluated?.add(key)
        this.#rest(at, "additionalProperties", additional, value[key], key)
      }
      if (names !== undefined) this.#name(at, names, key, here)
    }
    this.#dependencies(at, value)
  }

  #required(at: Place, value: Node): ReadonlySet<string> {
    const { schema, path } = at
    const missing = new Set<string>()
    const required = (schema["required"] ?? []) as string[]
    for (const key of required) {
      const tolerant =
        value[key] === undefined && undefinedIn(schema, key, this.#links) === "allowed"
      if (!isMissing(value, key, tolerant) || missing.has(key)) continue
      missing.add(key)
      add(at, { path: childPointer(path, key), keyword: "required", message: "is required" })
    }
    return missing
  }

  #name(at: Place, schema: SchemaNode, key: string, path: string): void {
    const issues: RawIssue[] = []
    this.visit(schema, key, path, at.scope, issues, at.limit)
    for (const { message } of issues) {
      const text = message === "is not allowed" ? message : `has a name that ${message}`
      add(at, { path, keyword: "propertyNames", message: text })
    }
  }

  #dependencies(at: Place, value: Node): void {
    const { schema, path } = at
    const required = (schema["dependentRequired"] ?? {}) as Record<string, string[]>
    for (const [key, others] of Object.entries(required)) {
      if (!hasKey(value, key)) continue
      for (const other of others) {
        if (hasKey(value, other)) continue
        const message = `is required when ${JSON.stringify(key)} is present`
        add(at, { path: childPointer(path, other), keyword: "dependentRequired", message })
      }
    }
    const schemas = (schema["dependentSchemas"] ?? {}) as Record<string, SchemaNode>
    for (const [key, member] of Object.entries(schemas))
      if (hasKey(value, key)) this.#same(at, member)
  }

  #references(at: Place): void {
    const { schema, scope } = at
    if ("$ref" in schema) this.#same(at, this.#links.target(schema, "$ref"))
    if (!("$dynamicRef" in schema)) return
    const name = this.#links.dynamicName(schema)
    const override =
      name === undefined
        ? undefined
        : scope.find((resource) => resource.dynamicAnchors.has(name))?.dynamicAnchors.get(name)
    this.#same(at, override ?? this.#links.target(schema, "$dynamicRef"))
  }

  #combinations(at: Place): void {
    const { schema } = at
    for (const member of (schema["allOf"] ?? []) as SchemaNode[]) this.#same(at, member)
    this.#union(at, "anyOf")
    this.#union(at, "oneOf")
    const not = schema["not"] as SchemaNode | undefined
    if (isNoValue(schema) && at.value !== undefined) {
      add(at, typeIssue(at.path, ["undefined"], at.value))
    } else if (not !== undefined && this.#matches(at, not, at.value)) {
      const open = not === true || (isRecord(not) && Object.keys(not).length === 0)
      const message = open ? "is not allowed" : "must not match what the schema excludes"
      const isExcluded = isRecord(not) && "enum" in not
      add(at, { path: at.path, keyword: "not", message, ...(isExcluded && { isExcluded }) })
    }
    if (!("if" in schema)) return
    const condition: RawIssue[] = []
    const evaluated = this.#branch(at, schema["if"] as SchemaNode, condition, 1)
    if (condition.length === 0) merge(at, evaluated)
    const branch = schema[condition.length === 0 ? "then" : "else"] as SchemaNode | undefined
    if (branch !== undefined) this.#same(at, branch)
  }

  #union(at: Place, keyword: "anyOf" | "oneOf"): void {
    const members = at.schema[keyword]
    if (!Array.isArray(members)) return
    const failed: RawIssue[][] = []
    const passed: number[] = []
    members.forEach((member: SchemaNode, index) => {
      const issues: RawIssue[] = []
      const evaluated = this.#branch(at, member, issues, at.limit)
      if (issues.length > 0) failed.push(issues)
      else {
        passed.push(index + 1)
        merge(at, evaluated)
      }
    })
    if (passed.length === 0) {
      for (const issue of foldUnion(at.path, keyword, failed, at.value)) add(at, issue)
    } else if (keyword === "oneOf" && passed.length > 1) {
      const message = `must match exactly one alternative, but matches ${passed.length} (numbers ${passed.join(", ")})`
      add(at, { path: at.path, keyword, message })
    }
  }

  #unevaluated(at: Place, keyword: string, keys: Iterable<string | number>): void {
    const value = at.value as Readonly<Record<string | number, unknown>>
    const schema = at.schema[keyword] as SchemaNode | undefined
    if (schema === undefined) return
    for (const key of keys) {
      if (at.evaluated?.has(key) !== true) this.#rest(at, keyword, schema, value[key], key)
      at.evaluated?.add(key)
    }
  }

  #refinements(at: Place): void {
    const { schema, value, path } = at
    for (const { check, error } of ownRefinements(schema)) {
      let message = "does not pass the refinement of its schema"
      try {
        if (check(value)) continue
        message = String((error as (value: unknown) => unknown)(value)) || message
      } catch (thrown) {
        message = `cannot be refined: ${reasonOf(thrown)}`
      }
      add(at, { path, keyword: "~refine", message })
    }
  }
}

/** Adds what another schema evaluated in the same value. */
function merge({ evaluated }: Place, more: Evaluated | undefined): void {
  for (const key of more ?? []) evaluated?.add(key)
}

function add({ out, limit }: Place, issue: RawIssue): void {
  if (out.length < limit) out.push(issue)
}
