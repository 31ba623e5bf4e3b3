import { validate } from "@cfworker/json-schema"
import type { OutputUnit } from "@cfworker/json-schema"
import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema } from "../../../../src/schema/json.ts"
import { resolveRef } from "../../../../src/schema/read/resolve-ref.ts"
import { groupBy } from "../../ui/group-by.ts"
import { withNumbers } from "../../ui/json-text.ts"
import { own } from "./json.ts"
import type { JsonSchema } from "./json.ts"
import { isSafePattern } from "./pattern-guard.ts"
import { fromPointer, toPointer } from "./pointer.ts"

/** One validation error of an input. */
export interface InputIssue {
  readonly path: readonly string[]
  /** The same as a JSON pointer. */
  readonly pointer: string
  readonly message: string
  readonly keyword: string
}

/** A compiled check of inputs; created once per schema. */
export type InputCheck = (value: unknown) => readonly InputIssue[]

/** Maximum number of reported issues. */
const MAX_ISSUES = 100
/** A schema with more parts is checked by the hub only: checking it on every keystroke would be slow. */
const MAX_NODES = 50_000

/**
 * A check of inputs that evaluates nothing and never throws.
 *
 * A schema that cannot be checked here reports no issues: the hub checks every input itself.
 */
export function createCheck(schema: JsonSchema): InputCheck {
  const prepared = prepare(schema)
  if (prepared === undefined) return () => []
  const { root, lookup } = prepared
  return (value) => {
    if (value === undefined) return []
    try {
      const { errors } = validate(withNumbers(value), root, "2020-12", lookup, false)
      return toIssues(errors)
    } catch {
      return []
    }
  }
}

type Engine = Parameters<typeof validate>
interface Prepared {
  readonly root: Exclude<Engine[1], boolean> | boolean
  readonly lookup: NonNullable<Engine[3]>
}

/**
 * A copy whose patterns can be run, and where each of its references leads.
 *
 * The engine looks up references by their text unless they are made absolute: so no address of the
 * page is used, and frozen schemas are not changed.
 */
function prepare(schema: JsonSchema): Prepared | undefined {
  const refs = new Set<string>()
  let nodes = 0
  const copy = (value: unknown, depth: number): unknown => {
    if (++nodes > MAX_NODES || depth > 200) throw new RangeError("The schema is too large.")
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1))
    if (!isRecord(value)) return value
    const ref = own(value, "$ref")
    if (typeof ref === "string") refs.add(ref)
    const entries = Object.entries(value).filter(([key, item]) => isKept(key, item))
    return Object.fromEntries(entries.map(([key, item]) => [key, copy(item, depth + 1)]))
  }
  try {
    const root = copy(schema, 0) as JsonSchema
    const lookup: Record<string, unknown> = Object.create(null) as Record<string, unknown>
    for (const ref of refs) {
      const target = isRecord(root) ? resolveRef(root, ref) : undefined
      lookup[ref] = isSchema(target) ? target : true
    }
    return { root, lookup } as Prepared
  } catch {
    return undefined
  }
}

/** Keywords that are kept: none with the engine's internal names, and no patterns that may hang. */
function isKept(key: string, value: unknown): boolean {
  if (key.startsWith("__absolute")) return false
  if (key === "pattern" && typeof value === "string") return isSafePattern(value)
  if (key === "patternProperties" && isRecord(value)) return Object.keys(value).every(isSafePattern)
  return true
}

/** Keywords whose errors only say that something below is wrong. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "$ref",
  "allOf",
  "properties",
  "patternProperties",
  "items",
  "prefixItems",
  "if",
  "dependentSchemas",
])

function toIssues(errors: readonly OutputUnit[]): readonly InputIssue[] {
  const kept = withoutLostBranches(errors)
  const issues: InputIssue[] = []
  const seen = new Set<string>()
  for (const unit of kept) {
    if (WRAPPERS.has(unit.keyword) || isEcho(unit, kept)) continue
    const issue = toIssue(unit)
    const key = `${issue.pointer} ${issue.message}`
    if (seen.has(key) || issues.length >= MAX_ISSUES) continue
    seen.add(key)
    issues.push(issue)
  }
  return issues
}

/** `additionalProperties` and similar keywords are reported twice: by themselves, and by the schema `false`. */
function isEcho(unit: OutputUnit, all: readonly OutputUnit[]): boolean {
  if (!/^(additional|unevaluated)(Properties|Items)$/.test(unit.keyword)) return false
  return all.some(
    (other) => other !== unit && other.instanceLocation.startsWith(`${unit.instanceLocation}/`),
  )
}

/** For a union without a match, only the errors of the nearest branch; the rest would be noise. */
function withoutLostBranches(errors: readonly OutputUnit[]): readonly OutputUnit[] {
  let kept = errors
  const unions = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf")
  for (const union of unions) {
    if (!kept.includes(union)) continue
    const prefix = `${union.keywordLocation}/`
    const inside = kept.filter((one) => one.keywordLocation.startsWith(prefix))
    const best = fitsSeveral(union)
      ? undefined
      : nearest(grouped(inside, prefix.length), union.instanceLocation)
    kept = kept.filter((one) => {
      if (one === union) return best === undefined
      return !one.keywordLocation.startsWith(prefix) || best?.includes(one) === true
    })
  }
  return kept
}

/** Whether the error is that several choices match, so that no branch has to be corrected. */
function fitsSeveral({ error }: OutputUnit): boolean {
  return /\((?!0 )\d+ matches\)/.test(error)
}

/** The errors of each branch: its number is what follows the place of the union. */
function grouped(errors: readonly OutputUnit[], start: number): readonly (readonly OutputUnit[])[] {
  const branchOf = (one: OutputUnit): string =>
    one.keywordLocation.slice(start).split("/", 1).join()
  return [...groupBy(errors, branchOf).values()]
}

/** The nearest branch: one that fails neither by its type nor by a fixed value that distinguishes branches. */
function nearest(
  branches: readonly (readonly OutputUnit[])[],
  location: string,
): readonly OutputUnit[] | undefined {
  const cost = (branch: readonly OutputUnit[]): number => {
    const wrongKind = branch.some(
      (one) => one.keyword === "type" && one.instanceLocation === location,
    )
    const wrongTag = branch.some((one) => one.keyword === "const" || one.keyword === "enum")
    return branch.length + (wrongKind ? 10_000 : 0) + (wrongTag ? 1000 : 0)
  }
  const sorted = branches.toSorted((a, b) => cost(a) - cost(b))
  const [first, second] = sorted
  if (first === undefined || cost(first) >= 10_000) return undefined
  // Two branches are equally near, so neither is preferred.
  return second !== undefined && cost(second) === cost(first) && cost(first) >= 1000
    ? undefined
    : first
}

function toIssue(unit: OutputUnit): InputIssue {
  const { keyword, error } = unit
  const at = fromPointer(unit.instanceLocation)
  const missing = /^Instance does not have required property "(.*)"\.$/s.exec(error)?.[1]
  const path = missing === undefined ? at : [...at, missing]
  return { path, pointer: toPointer(path), message: wordsFor(keyword, error), keyword }
}

/** The engine's message in plain words. */
function wordsFor(keyword: string, error: string): string {
  switch (keyword) {
    case "required":
      return "is required"
    case "false":
      return "is not allowed here"
    case "type": {
      const parts = /^Instance type "(.*?)" is invalid\. Expected (.*)\.$/s.exec(error)
      return parts === null
        ? error
        : `must be ${(parts[2] ?? "").replaceAll('"', "")}, not ${parts[1] ?? ""}`
    }
    case "anyOf":
    case "oneOf":
      return /\((?!0 )\d+ matches\)/.test(error)
        ? "fits several of the choices, and must fit exactly one"
        : "fits none of the choices"
    case "enum":
    case "const":
      return clipped(
        error.replace(/^Instance does not match (any of )?/, "must be $1").replace(/\.$/, ""),
      )
    case "not":
      return "is not allowed by this schema"
    default:
      return clipped(error.replace(/^(Instance|String|Array) /, "").replace(/\.$/, ""))
  }
}

function clipped(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
