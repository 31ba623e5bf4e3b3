import { tagOf } from "../../internal/user-tag.ts"
import { UsageError } from "../model.ts"

/** A set of operations: one, all below a name, or all. */
export type OperationPattern =
  | { readonly kind: "one"; readonly id: string }
  | { readonly kind: "below"; readonly name: string }
  | { readonly kind: "all" }

/** A user of the broker: what it may call, and what it serves; `undefined` for nothing. */
export interface Account {
  readonly name: string
  readonly calls: readonly OperationPattern[] | undefined
  readonly serves: readonly OperationPattern[] | undefined
  /** It sends calls for other callers, each with a ticket. */
  readonly isHub: boolean
  /** The variable that holds its password. */
  readonly variable: string
}

/** The users of a broker, under one prefix. */
export interface Plan {
  readonly prefix: string
  readonly accounts: readonly Account[]
}

/** Options of the command: `alice=task.list,task.*`. */
export interface PlanInput {
  readonly prefix: string
  readonly users: readonly string[]
  readonly workers: readonly string[]
  readonly hubs: readonly string[]
}

/** Parses a plan. A user that occurs twice gets both permissions. Throws a `UsageError` for invalid options. */
export function readPlan({ prefix, users, workers, hubs }: PlanInput): Plan {
  checkSegment("--prefix", prefix)
  const drafts = new Map<string, Draft>()
  for (const text of users) callsOf(drafts, readEntry("--user", text))
  for (const text of hubs) {
    const entry = readEntry("--hub", text)
    callsOf(drafts, { ...entry, patterns: entry.patterns ?? [{ kind: "all" }] }).isHub = true
  }
  for (const text of workers) {
    const { name, patterns } = readEntry("--worker", text)
    if (patterns === undefined) throw incomplete("--worker", name, "serves")
    const draft = draftOf(drafts, name)
    draft.serves = [...(draft.serves ?? []), ...patterns]
  }
  if (drafts.size === 0) {
    throw new UsageError(
      "Name at least one user: --user alice=task.list, --worker w1=task.* or --hub hub.",
    )
  }
  const accounts = Array.from(drafts, ([name, draft]) => ({
    name,
    ...draft,
    variable: variableOf(prefix, name),
  }))
  checkUnique(accounts, "variable", ({ variable }) => variable)
  const serving = accounts.filter(({ serves }) => serves !== undefined)
  checkUnique(serving, "tag", ({ name }) => tagOf(name))
  return { prefix, accounts }
}

/** The text of a pattern. */
export function patternText(pattern: OperationPattern): string {
  switch (pattern.kind) {
    case "one":
      return pattern.id
    case "below":
      return `${pattern.name}.*`
    case "all":
      return "*"
  }
}

/** The intersection of two patterns: the narrower one, or nothing. */
export function commonPart(
  one: OperationPattern,
  other: OperationPattern,
): OperationPattern | undefined {
  if (covers(one, other)) return other
  return covers(other, one) ? one : undefined
}

function covers(wide: OperationPattern, narrow: OperationPattern): boolean {
  if (wide.kind === "all") return true
  if (narrow.kind === "all") return false
  const name = narrow.kind === "one" ? narrow.id : narrow.name
  if (wide.kind === "one") return narrow.kind === "one" && name === wide.id
  return name.startsWith(`${wide.name}.`) || (narrow.kind === "below" && name === wide.name)
}

interface Draft {
  calls: readonly OperationPattern[] | undefined
  serves: readonly OperationPattern[] | undefined
  isHub: boolean
}

interface Entry {
  readonly name: string
  readonly patterns: readonly OperationPattern[] | undefined
}

function callsOf(drafts: Map<string, Draft>, { name, patterns }: Entry): Draft {
  if (patterns === undefined) throw incomplete("--user", name, "may call")
  const draft = draftOf(drafts, name)
  draft.calls = [...(draft.calls ?? []), ...patterns]
  return draft
}

function draftOf(drafts: Map<string, Draft>, name: string): Draft {
  const draft = drafts.get(name) ?? { calls: undefined, serves: undefined, isHub: false }
  drafts.set(name, draft)
  return draft
}

function readEntry(option: string, text: string): Entry {
  const at = text.indexOf("=")
  const name = (at === -1 ? text : text.slice(0, at)).trim()
  checkSegment(option, name)
  if (at === -1) return { name, patterns: undefined }
  const patterns = text
    .slice(at + 1)
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .map((one) => readPattern(option, one))
  return { name, patterns: patterns.length === 0 ? undefined : patterns }
}

const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/
const MAX_NAME = 255

function readPattern(option: string, text: string): OperationPattern {
  if (text === "*" || text === ">") return { kind: "all" }
  const below = /^(.*)\.[*>]$/.exec(text)?.[1]
  const name = below ?? text
  if (!NAME.test(name) || name.length > MAX_NAME) {
    throw new UsageError(
      `${option}: ${JSON.stringify(text)} is not an operation. Give an id ("task.list"), all below a name ("task.*") or all ("*").`,
    )
  }
  if (below !== undefined) return { kind: "below", name: below }
  if (name.includes(".")) return { kind: "one", id: name }
  throw new UsageError(
    `${option}: "${text}" is not the id of an operation. For all below it, write "${text}.*".`,
  )
}

/** Checks that a name is one segment of a subject, without wildcards. */
function checkSegment(option: string, name: string): void {
  if (SEGMENT.test(name)) return
  throw new UsageError(
    `${option}: ${JSON.stringify(name)} must be 1 to 64 letters, digits, "-" or "_".`,
  )
}

function incomplete(option: string, name: string, what: string): UsageError {
  return new UsageError(`${option}: say what "${name}" ${what}: ${option} ${name}=task.*`)
}

function variableOf(prefix: string, name: string): string {
  const variable = `${prefix}_${name}_PASSWORD`.toUpperCase().replaceAll("-", "_")
  return /^\d/.test(variable) ? `_${variable}` : variable
}

function checkUnique(
  accounts: readonly Account[],
  what: string,
  of: (account: Account) => string,
): void {
  const owners = new Map<string, string>()
  for (const account of accounts) {
    const value = of(account)
    const owner = owners.get(value)
    if (owner !== undefined) {
      throw new UsageError(
        `"${owner}" and "${account.name}" would share the ${what} ${value}. Give one of them another name.`,
      )
    }
    owners.set(value, account.name)
  }
}
