import { setOwn } from "./json.ts"
import { isNative, matches, safeRegExp } from "./regex/safe-regexp.ts"

/** Decides about a name in place of a regular expression. */
export interface KeyTest {
  test(key: string): boolean
}

/**
 * Adds what to run instead of the regular expressions that TypeBox makes of `patternProperties`, by their sources, where
 * one of them may take long.
 */
export function addKeyTests(schema: Record<string, unknown>, tests: Map<string, KeyTest>): void {
  const sources = Object.keys(schema["patternProperties"] as object)
  if (sources.every(isNative)) return
  const known = sources.map((source) => safeRegExp(source))
  for (const regexp of known) {
    tests.set(regexp.source, { test: (key) => matches(regexp, key) === true })
  }
  const names = new Set(Object.keys(schema["properties"] ?? {}))
  // As TypeBox asks whether a name is an additional one.
  const escaped = [...names].map((name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`)
  const { source } = new RegExp(`(${[...sources, ...escaped].join("|")})`, "u")
  tests.set(source, {
    test: (key) => names.has(key) || known.some((regexp) => matches(regexp, key) !== false),
  })
}

/** Leaves out the names that may take long to compare, and what would refuse those that they allow. */
export function dropSlowKeys(schema: Record<string, unknown>): void {
  const patterns = schema["patternProperties"] as Record<string, unknown>
  const sources = Object.keys(patterns)
  if (sources.every(isNative)) return
  const kept = {}
  for (const source of sources) if (isNative(source)) setOwn(kept, source, patterns[source])
  schema["patternProperties"] = kept
  for (const keyword of ["additionalProperties", "unevaluatedProperties"]) delete schema[keyword]
}
