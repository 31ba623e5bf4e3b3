import { CallError } from "../../core/errors.ts"
import { cutText } from "../../internal/message-text.ts"
import { nearest } from "../../internal/suggest.ts"

/** A source that could not be opened. */
export interface FailedSource {
  readonly name: string
  readonly namespace: string
  readonly reason: string
}

type Failures = readonly FailedSource[]

/**
 * Resolves a name to an id: the id itself, or the end of exactly one id.
 *
 * `issues.create` and `issues/create` mean `github.issues.create` if no other id ends like that.
 */
export function resolveId(name: string, ids: readonly string[], failures: Failures): string {
  const hits = matchingIds(name, ids)
  if (hits.length === 0) throw missingSource(name, failures) ?? notRegistered(name, ids, failures)
  if (hits.length > 1) throw ambiguous(name, hits)
  return hits[0] as string
}

/** Ids that match a name; exact matches take precedence. */
export function matchingIds(name: string, ids: readonly string[]): readonly string[] {
  if (ids.includes(name)) return [name]
  const exact = ids.filter((id) => id.endsWith(`.${name}`))
  const ending = `.${plain(name)}`
  if (exact.length > 0 || !/[^.]/.test(ending)) return exact
  return ids.filter((id) => `.${plain(id)}`.endsWith(ending))
}

/** Normalizes capitals, slashes and underscores in a name. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ".")
}

/** The error for an operation of a failed source; `undefined` for other sources. */
export function missingSource(id: string, failures: Failures): CallError | undefined {
  const source = failures.find(({ namespace }) => id.startsWith(`${namespace}.`))
  if (source === undefined) return undefined
  return new CallError(
    "UNAVAILABLE",
    `"${cutText(id, 200)}" is not available: its source "${source.name}" could not be opened. ${source.reason}`,
    { details: { source: source.name }, operationId: id },
  )
}

function notRegistered(name: string, ids: readonly string[], failures: Failures): CallError {
  const shortName = cutText(name, 200)
  const meant = nearestId(name, ids)
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`
  return new CallError(
    "OPERATION_NOT_FOUND",
    `Operation "${shortName}" is not registered.${hint}${meant === undefined ? perhapsIn(failures) : ""}`,
    { details: { operationId: shortName }, operationId: shortName },
  )
}

/** Names failed sources that may have an operation; the reasons are reported elsewhere. */
function perhapsIn(failures: Failures): string {
  if (failures.length === 0) return ""
  const names = failures.map(({ name }) => `"${name}"`).join(", ")
  return failures.length === 1
    ? ` It may be in the source ${names}, which could not be opened.`
    : ` It may be in one of the sources that could not be opened: ${names}.`
}

const MAX_NAMED = 5

function ambiguous(name: string, candidates: readonly string[]): CallError {
  const named = candidates
    .slice(0, MAX_NAMED)
    .map((id) => `"${id}"`)
    .join(", ")
  const more = candidates.length > MAX_NAMED ? ` and ${candidates.length - MAX_NAMED} more` : ""
  return new CallError(
    "OPERATION_NOT_FOUND",
    `"${name}" could be any of ${candidates.length} operations: ${named}${more}. Give the whole id.`,
    { details: { operationId: name, candidates: candidates.slice(0, 20) } },
  )
}

/** The id closest to a name. In chunks: `nearest` compares only a few hundred at once. */
function nearestId(name: string, ids: readonly string[]): string | undefined {
  const slack = name.length / 4 + 2
  const near = ids.filter((id) => Math.abs(id.length - name.length) < slack)
  const winners: string[] = []
  for (let at = 0; at < near.length; at += 500) {
    const winner = nearest(name, near.slice(at, at + 500))
    if (winner !== undefined) winners.push(winner)
  }
  return winners.length > 0 ? nearest(name, winners) : nearestEnding(name, ids)
}

/** The closest end of an id, for `issues.creat` without its namespace. */
function nearestEnding(name: string, ids: readonly string[]): string | undefined {
  const byEnding = new Map<string, string>()
  const parts = name.split(".").length
  for (const id of ids) byEnding.set(id.split(".").slice(-parts).join("."), id)
  const ending = nearest(name, byEnding.keys())
  return ending === undefined ? undefined : byEnding.get(ending)
}
