import { setOwn } from "./json.ts"
import { isNative, matches, safeRegExp } from "./regex/safe-regexp.ts"

/** Tests a property name in place of a regular expression. */
export interface KeyTest {
  test(key: string): boolean
}

/**
 * Adds replacements for the regular expressions that TypeBox builds from `patternProperties`, by their sources, if
 * one of them may be slow.
 */
export function addKeyTests(schema: Record<string, unknown>, tests: Map<string, KeyTest>): void {
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
export function dropSlowKeys(schema: Record<string, unknown>): void {
  const patterns = schema["patternProperties"] as Record<string, unknown>
  const sources = Object.keys(patterns)
  if (sources.every(isNative)) return
  const kept = {}
  for (const source of sources) if (isNative(source)) setOwn(kept, source, patterns[source])
  schema["patternProperties"] = kept
  for (const keyword of ["additionalProperties", "unevaluatedProperties"]) delete schema[keyword]
}
