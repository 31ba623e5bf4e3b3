import { quote, reasonOf } from "./describe.ts"
import type { Report } from "./diagnostics.ts"
import { childPointer, isPlainRecord, setOwn } from "./json.ts"
import { parseRegex, printRegex, type RegexNode } from "./regex-parse.ts"
import { isExplosive } from "./regex-safety.ts"

/** A pattern that can run, or why it cannot. */
export type AdmittedPattern =
  | { readonly pattern: string }
  | { readonly code: "bad-pattern" | "unsafe-pattern"; readonly reason: string }

/** The same patterns come again and again in one document, and screening costs more than the rest. */
const cache = new Map<string, AdmittedPattern>()
const CACHE_SIZE = 500

/**
 * Makes a pattern fit for the compiler, which uses the `u` flag, and refuses those that may hang.
 *
 * A pattern that is legal only without the flag is rewritten to one that matches the same text.
 */
export function admitPattern(pattern: string, maxLength: number): AdmittedPattern {
  if (pattern.length > maxLength) {
    return { code: "bad-pattern", reason: `it is longer than ${maxLength} characters` }
  }
  const known = cache.get(pattern)
  if (known !== undefined) return known
  const admitted = examine(pattern)
  if (cache.size >= CACHE_SIZE) cache.clear()
  cache.set(pattern, admitted)
  return admitted
}

/** Admits `pattern` and the keys of `patternProperties` of one schema, dropping those that cannot run. */
export function admitPatterns(
  schema: Record<string, unknown>,
  path: string,
  maxLength: number,
  report: Report,
): void {
  const { pattern, patternProperties } = schema
  if (typeof pattern === "string") {
    const admitted = admitPattern(pattern, maxLength)
    if ("pattern" in admitted) {
      schema["pattern"] = admitted.pattern
    } else {
      refuse(report, childPointer(path, "pattern"), pattern, admitted)
      delete schema["pattern"]
    }
  }
  if (!isPlainRecord(patternProperties)) return
  const at = childPointer(path, "patternProperties")
  const renamed: Record<string, unknown> = {}
  let changed = false
  let dropped = false
  for (const [key, value] of Object.entries(patternProperties)) {
    const admitted = admitPattern(key, maxLength)
    if (!("pattern" in admitted)) {
      refuse(report, childPointer(at, key), key, admitted)
      dropped = true
      continue
    }
    // Two spellings of one pattern: both have to hold.
    const taken = Object.hasOwn(renamed, admitted.pattern)
    const next = taken ? { allOf: [renamed[admitted.pattern], value] } : value
    setOwn(renamed, admitted.pattern, next)
    changed ||= admitted.pattern !== key
  }
  if (changed || dropped) schema["patternProperties"] = renamed
  // A key of a dropped pattern would now count as additional, and be refused where nothing refused it before.
  if (dropped) {
    for (const keyword of ["additionalProperties", "unevaluatedProperties"]) delete schema[keyword]
  }
}

function examine(pattern: string): AdmittedPattern {
  let node: RegexNode
  let text = pattern
  try {
    if (isLegal(pattern, "u")) {
      node = parseRegex(pattern)
    } else {
      void new RegExp(pattern)
      node = parseRegex(pattern)
      text = printRegex(node)
      void new RegExp(text, "u")
    }
  } catch (thrown) {
    return { code: "bad-pattern", reason: reasonOf(thrown) }
  }
  if (!isExplosive(node)) return { pattern: text }
  return {
    code: "unsafe-pattern",
    reason: "a repetition in it can read the same text in many ways",
  }
}

function isLegal(pattern: string, flags: string): boolean {
  try {
    void new RegExp(pattern, flags)
    return true
  } catch {
    return false
  }
}

function refuse(
  report: Report,
  path: string,
  pattern: string,
  refused: { readonly code: "bad-pattern" | "unsafe-pattern"; readonly reason: string },
): void {
  const what =
    refused.code === "bad-pattern" ? "cannot be used" : "may take exponential time and is not used"
  report(
    refused.code,
    path,
    `Pattern ${quote(pattern)} ${what}: ${refused.reason}. Any text is accepted here.`,
  )
}
