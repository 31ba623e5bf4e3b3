import { quote, reasonOf } from "../../internal/message-text.ts"
import { limitMessage } from "../issues.ts"
import { ownRefinements } from "../prepare.ts"
import { planMatch, remembering, safeRegExp } from "./safe-regexp.ts"
import type { Report } from "../diagnostics.ts"
import { isRecord } from "../../internal/guards.ts"
import { childPointer, setOwn } from "../json.ts"
import { parseRegex, printRegex, type RegexNode } from "./parse.ts"
import { isExplosive } from "./safety.ts"

/** A pattern that can run, or why it cannot. */
export type AdmittedPattern =
  | {
      readonly pattern: string
      /** Longer texts may go unchecked; there only where that is not very long. */
      readonly limit?: number
    }
  | RefusedPattern

interface RefusedPattern {
  readonly code: "bad-pattern" | "unsafe-pattern"
  readonly reason: string
  /** The pattern for this library alone, which matches it in linear time. */
  readonly linear?: string | undefined
}

/** Texts of this length are checked against every pattern that gets no diagnostic. */
const LONG_TEXT = 10_000

/**
 * Makes a pattern fit for the compiler, which uses the `u` flag, and refuses those that may hang.
 *
 * A pattern that is legal only without the flag is rewritten to one that matches the same text.
 */
export function admitPattern(pattern: string, maxLength: number): AdmittedPattern {
  if (pattern.length > maxLength) {
    return { code: "bad-pattern", reason: `it is longer than ${maxLength} characters` }
  }
  return examine(pattern)
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
    const at = childPointer(path, "pattern")
    if ("pattern" in admitted) {
      schema["pattern"] = admitted.pattern
      bound(report, at, pattern, admitted.limit)
    } else {
      refuse(report, at, pattern, admitted)
      delete schema["pattern"]
      if (admitted.linear !== undefined) refine(schema, pattern, safeRegExp(admitted.linear))
    }
  }
  if (!isRecord(patternProperties)) return
  const at = childPointer(path, "patternProperties")
  const renamed: Record<string, unknown> = {}
  let changed = false
  let dropped = false
  for (const [key, value] of Object.entries(patternProperties)) {
    const admitted = admitPattern(key, maxLength)
    if (!("pattern" in admitted)) {
      refuse(report, childPointer(at, key), key, { ...admitted, linear: undefined })
      dropped = true
      continue
    }
    bound(report, childPointer(at, key), key, admitted.limit)
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

/**
 * A text at the start, in which `[^/]+` may stand for a part of a path: what most patterns of URLs are.
 *
 * Each character fits in one way, so there is nothing to analyse, and loading the analysis takes longer than reading
 * a document with a few such patterns.
 */
const PLAIN = /^\^(?:[A-Za-z0-9_/ :@,=&%#~-]|\[\^\/\]\+(?=\/|\$?$))*\$?$/

const examine = remembering((pattern: string): AdmittedPattern => {
  if (PLAIN.test(pattern)) return { pattern }
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
  const plan = planMatch(text, node)
  if (plan === undefined || isExplosive(node)) {
    const reason = "a repetition in it can read the same text in many ways"
    return {
      code: "unsafe-pattern",
      reason,
      ...(plan !== undefined && { linear: text }),
    }
  }
  return { pattern: text, ...(plan.limit < LONG_TEXT && { limit: plan.limit }) }
})

/** Checks a pattern beside the keywords: other validators, which read the schema, would hang on it. */
function refine(schema: Record<string, unknown>, pattern: string, regexp: RegExp): void {
  const check = (value: unknown): boolean => typeof value !== "string" || regexp.test(value)
  const error = (): string => limitMessage("pattern", pattern)
  const value = [...ownRefinements(schema), { check, error }]
  Object.defineProperty(schema, "~refine", { value, configurable: true })
}

function isLegal(pattern: string, flags: string): boolean {
  try {
    void new RegExp(pattern, flags)
    return true
  } catch {
    return false
  }
}

function refuse(report: Report, path: string, pattern: string, refused: RefusedPattern): void {
  const { code, reason, linear } = refused
  const what = code === "bad-pattern" ? "cannot be used" : "may take exponential time"
  const outcome =
    linear === undefined
      ? "Any text is accepted here."
      : "It is left out of the schema, and matched in linear time by this library alone."
  report(code, path, `Pattern ${quote(pattern)} ${what}: ${reason}. ${outcome}`)
}

function bound(report: Report, path: string, pattern: string, limit: number | undefined): void {
  if (limit === undefined) return
  const message = `Pattern ${quote(pattern)} may take long, so text of more than ${limit} characters may go unchecked. Set "maxLength", or write the pattern without look-around, back-references and large counts.`
  report("slow-pattern", path, message)
}
