import { quote } from "../internal/message-text.ts"
import type { Report } from "./diagnostics.ts"
import { isRecord, isString, isStrings } from "../internal/guards.ts"
import { childPointer, isSchema, JSON_TYPES, setOwn } from "./json.ts"
import { type KeywordForm, KEYWORDS, keywordShape } from "./keywords.ts"

interface Rule {
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
}

/** JSON's types, and those of JavaScript which TypeBox compiles (`Type.BigInt()` and the like). */
const TYPES: ReadonlySet<unknown> = new Set([
  ...JSON_TYPES,
  ...["bigint", "constructor", "function", "symbol", "undefined", "void"],
])

const RULES: Readonly<Partial<Record<KeywordForm, Rule>>> = {
  type: {
    expected: `one of "string", "number", "integer", "boolean", "object", "array", "null", or a list of them`,
    accepts: (v) =>
      Array.isArray(v) ? v.length > 0 && v.every((t) => TYPES.has(t)) : TYPES.has(v),
  },
  values: { expected: "a list of values", accepts: Array.isArray },
  names: { expected: "a list of property names", accepts: isStrings },
  namesByName: {
    expected: "an object of lists of property names",
    accepts: (v) => isRecord(v) && Object.values(v).every(isStrings),
  },
  number: { expected: "a number", accepts: isNumeric },
  positive: { expected: "a number above 0", accepts: (v) => isNumeric(v) && v > 0 },
  count: {
    expected: "a whole number of 0 or more",
    accepts: (v) => Number.isInteger(v) && (v as number) >= 0,
  },
  flag: { expected: "true or false", accepts: (v) => typeof v === "boolean" },
  text: { expected: "a string", accepts: isString },
}

/**
 * Drops the keywords of one schema whose value is not of the form the keyword needs.
 *
 * The compiler ignores such keywords silently, so that a typo would accept everything.
 */
export function lintSchema(schema: Record<string, unknown>, path: string, report: Report): void {
  for (const keyword of Object.keys(schema)) {
    const { kind, form, holds } = KEYWORDS.get(keyword) ?? {}
    const value = schema[keyword]
    const rule = kind === "annotation" || form === undefined ? undefined : RULES[form]
    if (rule?.accepts(value) === false) {
      malformed(report, childPointer(path, keyword), keyword, value, rule.expected)
      delete schema[keyword]
    } else if (holds !== undefined && !lintShape(keyword, value, path, report)) {
      delete schema[keyword]
    }
  }
}

function lintShape(keyword: string, value: unknown, path: string, report: Report): boolean {
  const at = childPointer(path, keyword)
  switch (keywordShape(keyword)) {
    case "data":
      return true
    case "single":
    case "items":
      if (isSchema(value)) return true
      if (keyword === "items" && Array.isArray(value)) return lintList(value, keyword, at, report)
      malformed(report, at, keyword, value, "a schema (an object, true or false)")
      return false
    case "list":
      if (Array.isArray(value) && value.length > 0) return lintList(value, keyword, at, report)
      malformed(report, at, keyword, value, "a list of one or more schemas")
      return false
    case "map":
      return lintMap(keyword, value, at, isSchema, "a schema", report)
    case "dependencies":
      return lintMap(keyword, value, at, isDependency, "a schema or names", report)
  }
}

/** A member that is not a schema becomes `true`: removing it from an `anyOf` would make the rest stricter. */
function lintList(value: unknown[], keyword: string, at: string, report: Report): boolean {
  value.forEach((member, index) => {
    if (isSchema(member)) return
    malformed(report, childPointer(at, index), keyword, member, "a schema")
    value[index] = true
  })
  return true
}

function lintMap(
  keyword: string,
  value: unknown,
  at: string,
  accepts: (member: unknown) => boolean,
  expected: string,
  report: Report,
): boolean {
  if (!isRecord(value)) {
    malformed(report, at, keyword, value, `an object with ${expected} under each key`)
    return false
  }
  for (const key of Object.keys(value)) {
    if (accepts(value[key])) continue
    malformed(report, childPointer(at, key), keyword, value[key], expected)
    // A declared property stays declared, so that a closed object still knows its name.
    setOwn(value, key, true)
  }
  return true
}

function malformed(
  report: Report,
  path: string,
  keyword: string,
  actual: unknown,
  expected: string,
): void {
  report("malformed-keyword", path, `"${keyword}" must be ${expected}, got ${quote(actual)}.`)
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value))
}

function isDependency(value: unknown): boolean {
  return isSchema(value) || isStrings(value)
}
