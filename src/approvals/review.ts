import type { ApprovalCall, ApprovalCondition } from "../core/approvals.ts"
import { sameData } from "../internal/same-data.ts"
import { possibleVerdicts } from "./outlook.ts"
import { manyOf, type CompiledList, type CompiledRule, type ListsOf } from "./rules.ts"

/** Operations that a warning names. */
const MAX_NAMED = 5

/** What is wrong with rules, as sentences: rules without an effect, and mutations that run without being asked. */
export function reviewRules(listsOf: ListsOf, operations: readonly ApprovalCall[]): string[] {
  const byList = new Map<CompiledList, ApprovalCall[]>()
  for (const operation of operations) {
    for (const list of listsOf(operation.operationId)) {
      const known = byList.get(list)
      if (known === undefined) byList.set(list, [operation])
      else known.push(operation)
    }
  }
  const ineffective = [...byList].flatMap(([list, own]) =>
    list.flatMap((rule, index) => problemOf(rule, list.slice(0, index), own) ?? []),
  )
  return [...ineffective, ...unasked(listsOf, operations)]
}

function problemOf(
  rule: CompiledRule,
  earlier: readonly CompiledRule[],
  operations: readonly ApprovalCall[],
): string | undefined {
  const concerned = operations.filter((operation) => rule.concerns(operation) !== false)
  if (concerned.length === 0) return `${rule.rule}: no operation matches it.`
  const hiding = concerned.map((operation) =>
    earlier.find((other) => applyAlways(other, rule, operation)),
  )
  if (hiding.includes(undefined)) return undefined
  const names = [...new Set(hiding.map((other) => other?.rule))].join(" and ")
  return `${rule.rule}: it never counts, because ${names} ${names.includes(" and ") ? "apply" : "applies"} first.`
}

/** Whether a rule applies to every call of an operation to which another one applies. */
function applyAlways(rule: CompiledRule, other: CompiledRule, operation: ApprovalCall): boolean {
  if (rule.source === undefined || rule.concerns(operation) === false) return false
  const { unless, ...condition } = rule.source
  const hasException =
    unless !== undefined &&
    rule.concerns(operation) !== true &&
    !sameData(unless, other.source?.unless)
  return !hasException && includes(condition, other.source ?? {})
}

/** Whether what a condition says of calls holds for all that match another one. */
function includes(wide: ApprovalCondition, narrow: ApprovalCondition): boolean {
  const isWithin = (field: "callers" | "via"): boolean => {
    const [all, some] = [wide[field], narrow[field]]
    if (all === undefined) return true
    return (
      some !== undefined && manyOf<string>(some).every((one) => manyOf<string>(all).includes(one))
    )
  }
  const required = manyOf(narrow.scopes ?? [])
  return (
    isWithin("callers") &&
    isWithin("via") &&
    manyOf(wide.scopes ?? []).every((scope) => required.includes(scope)) &&
    (wide.input === undefined || sameData(wide.input, narrow.input))
  )
}

/** Mutations all calls of which run, by the rules that allow them. */
function unasked(listsOf: ListsOf, operations: readonly ApprovalCall[]): string[] {
  const byRules = new Map<string, string[]>()
  for (const operation of operations) {
    const lists = listsOf(operation.operationId)
    if (operation.spec.type !== "mutation" || !possibleVerdicts(lists, operation).isFree) continue
    const rules = lists.flatMap(
      (list) => list.find(({ applies }) => applies(operation) === true)?.rule ?? [],
    )
    const key = rules.join(" and ")
    byRules.set(key, [...(byRules.get(key) ?? []), operation.operationId])
  }
  return Array.from(byRules, ([rules, ids]) => {
    const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ""
    const what = ids.length === 1 ? "1 mutation runs" : `${ids.length} mutations run`
    return `${rules}: ${what} without being asked about: ${ids.slice(0, MAX_NAMED).join(", ")}${more}.`
  })
}
