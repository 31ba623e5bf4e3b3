import { CallError } from "../../core/errors.ts"
import { nearest } from "../../internal/suggest.ts"

/** A source that could not be opened. */
export interface FailedSource {
  readonly name: string
  readonly namespace: string
  readonly reason: string
}

type Failures = readonly FailedSource[]

/**
 * The id that a name stands for: the id itself, or its end where only one has it.
 *
 * `issues.create` and `issues/create` are `github.issues.create` while no other operation ends so.
 */
export function resolveId(given: string, ids: readonly string[], failures: Failures): string {
  const found = matchingIds(given, ids)
  if (found.length === 0)
    throw missingSource(given, failures) ?? notRegistered(given, ids, failures)
  if (found.length > 1) throw ambiguous(given, found)
  return found[0] as string
}

/** Ids that a name could stand for; those that are or end exactly so count before others. */
export function matchingIds(given: string, ids: readonly string[]): readonly string[] {
  if (ids.includes(given)) return [given]
  const exact = ids.filter((id) => id.endsWith(`.${given}`))
  const ending = `.${plain(given)}`
  if (exact.length > 0 || !/[^.]/.test(ending)) return exact
  return ids.filter((id) => `.${plain(id)}`.endsWith(ending))
}

/** Names of sources with capitals, slashes and underlines, in one spelling. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ".")
}

/** Why an operation of a source that failed cannot be called; of other sources nothing is said. */
export function missingSource(given: string, failures: Failures): CallError | undefined {
  const found = failures.find(({ namespace }) => given.startsWith(`${namespace}.`))
  if (found === undefined) return undefined
  return new CallError(
    "UNAVAILABLE",
    `"${shortened(given)}" is not available: its source "${found.name}" could not be opened. ${found.reason}`,
    { details: { source: found.name }, operationId: given },
  )
}

function notRegistered(given: string, ids: readonly string[], failures: Failures): CallError {
  const name = shortened(given)
  const meant = nearestId(given, ids)
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`
  return new CallError(
    "OPERATION_NOT_FOUND",
    `Operation "${name}" is not registered.${hint}${meant === undefined ? perhapsIn(failures) : ""}`,
    { details: { operationId: name }, operationId: name },
  )
}

/** Why a source failed is for whoever looks into that. */
function perhapsIn(failures: Failures): string {
  if (failures.length === 0) return ""
  const names = failures.map(({ name }) => `"${name}"`).join(", ")
  return failures.length === 1
    ? ` It may be in the source ${names}, which could not be opened.`
    : ` It may be in one of the sources that could not be opened: ${names}.`
}

function shortened(given: string): string {
  return given.length > 200 ? `${given.slice(0, 200)}…` : given
}

const MOST_NAMED = 5

function ambiguous(given: string, found: readonly string[]): CallError {
  const named = found
    .slice(0, MOST_NAMED)
    .map((id) => `"${id}"`)
    .join(", ")
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : ""
  return new CallError(
    "OPERATION_NOT_FOUND",
    `"${given}" could be any of ${found.length} operations: ${named}${more}. Give the whole id.`,
    { details: { operationId: given, candidates: found.slice(0, 20) } },
  )
}

/** Of thousands of ids: in parts, as the measure looks at no more than a few hundred at once. */
function nearestId(given: string, ids: readonly string[]): string | undefined {
  const slack = given.length / 4 + 2
  const near = ids.filter((id) => Math.abs(id.length - given.length) < slack)
  const winners: string[] = []
  for (let at = 0; at < near.length; at += 500) {
    const winner = nearest(given, near.slice(at, at + 500))
    if (winner !== undefined) winners.push(winner)
  }
  return winners.length > 0 ? nearest(given, winners) : nearestEnding(given, ids)
}

/** For `issues.creat`, typed without its namespace. */
function nearestEnding(given: string, ids: readonly string[]): string | undefined {
  const byEnding = new Map<string, string>()
  const parts = given.split(".").length
  for (const id of ids) byEnding.set(id.split(".").slice(-parts).join("."), id)
  const ending = nearest(given, byEnding.keys())
  return ending === undefined ? undefined : byEnding.get(ending)
}
