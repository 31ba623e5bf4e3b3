// Rules as functions of a call. A condition on something that is not known yet, such as the input while operations are
// listed, is neither true nor false.
import type {
  ApprovalCall,
  ApprovalCondition,
  ApprovalDecision,
  ApprovalFunction,
  ApprovalList,
  ApprovalRule,
  Verdict,
} from "../core/approvals.ts"
import { isRecord } from "../internal/guards.ts"
import { typeName } from "../internal/message-text.ts"
import { compilePattern } from "../internal/pattern.ts"
import { compileJson } from "../schema/compiled.ts"

/** Whether a condition is met; `undefined` if it depends on what is not known. */
type Test = (call: ApprovalCall) => boolean | undefined

/** A rule, ready to use. */
export interface CompiledRule extends ApprovalDecision {
  /** The rule as it was written. */
  readonly source: ApprovalRule | undefined
  /** Decides instead of the rule. */
  readonly decideBy: ApprovalFunction | undefined
  /** Whether it applies to an operation, whoever calls it. */
  readonly concerns: Test
  /** Whether it applies to a call. */
  readonly applies: Test
  /** The first field that a call does not match; `undefined` if it applies. */
  readonly mismatch: (call: ApprovalCall) => keyof ApprovalRule | undefined
}

/** The rules of one list, in their order. */
export type CompiledList = readonly CompiledRule[]

/** The lists that count for an operation. */
export type ListsOf = (operationId: string) => readonly CompiledList[]

const STRICTNESS: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 }

/** Whether a decision is stricter than another one. */
export function isStricter(
  decision: ApprovalDecision,
  other: ApprovalDecision | undefined,
): boolean {
  return other === undefined || rank(decision) > rank(other)
}

function rank({ decide, nested }: ApprovalDecision): number {
  return STRICTNESS[decide] + (decide === "ask" && nested === true ? 0.5 : 0)
}

/** Compiles a list. Throws a `TypeError` for an input schema that is invalid, or that accepts everything. */
export function compileList(list: ApprovalList, name: string): CompiledList {
  const entries = typeof list === "function" ? [list] : list
  return entries.map((entry, index) => {
    const rule = `${name} rule ${index + 1}`
    return typeof entry === "function" ? fromFunction(entry, rule) : fromRule(entry, rule)
  })
}

/** What happens if no rule applies: mutations ask. */
export function unmatched({ spec }: Pick<ApprovalCall, "spec">): ApprovalDecision {
  return spec.type === "mutation" ? ASKED : RUN
}

const ASKED: ApprovalDecision = { decide: "ask" }
const RUN: ApprovalDecision = { decide: "allow" }

function fromFunction(decideBy: ApprovalFunction, rule: string): CompiledRule {
  const applies = (): true => true
  const mismatch = (): undefined => undefined
  return { decide: "ask", rule, source: undefined, decideBy, concerns: applies, applies, mismatch }
}

function fromRule(source: ApprovalRule, rule: string): CompiledRule {
  const { decide, reason, nested, unless } = source
  const condition = compileCondition(source, rule)
  const exception = unless && compileCondition(unless, `${rule}, unless`)
  const withException =
    (test: Test, isException: Test | undefined): Test =>
    (call) =>
      both(test(call), () => (isException === undefined ? true : not(isException(call))))
  return {
    ...{ decide, rule, reason, nested, source, decideBy: undefined },
    concerns: withException(
      condition.static,
      exception && ((call) => both(exception.static(call), () => exception.isStatic || undefined)),
    ),
    applies: withException(
      (call) => both(condition.static(call), () => condition.dynamic(call)),
      exception && ((call) => both(exception.static(call), () => exception.dynamic(call))),
    ),
    mismatch: (call) =>
      condition.mismatch(call) ??
      (exception !== undefined && exception.mismatch(call) === undefined ? "unless" : undefined),
  }
}

interface Condition {
  /** What depends on the operation alone. */
  readonly static: Test
  /** What depends on the call. */
  readonly dynamic: Test
  readonly isStatic: boolean
  /** The first field that a call does not match. */
  readonly mismatch: (call: ApprovalCall) => keyof ApprovalCondition | undefined
}

type FieldTest = readonly [field: keyof ApprovalCondition, test: Test]

function compileCondition(condition: ApprovalCondition, rule: string): Condition {
  const { match, type, callers, scopes, via, input } = condition
  const ofOperation: FieldTest[] = []
  const ofCall: FieldTest[] = []
  if (match !== undefined) {
    const patterns = manyOf(match).map(compilePattern)
    ofOperation.push(["match", (call) => patterns.some((matches) => matches(call.operationId))])
  }
  if (type !== undefined) {
    const types = manyOf<string>(type)
    ofOperation.push(["type", (call) => types.includes(call.spec.type)])
  }
  for (const name of ANNOTATIONS) {
    const wanted = condition[name]
    if (wanted === undefined) continue
    ofOperation.push([name, (call) => wanted === annotationOf(call, name)])
  }
  if (callers !== undefined) {
    const ids = manyOf(callers)
    ofCall.push([
      "callers",
      (call) => ifKnown(call, "identity", () => isOneOf(ids, call.identity?.id)),
    ])
  }
  if (scopes !== undefined) {
    const needed = manyOf(scopes)
    ofCall.push(["scopes", (call) => ifKnown(call, "identity", () => hasScopes(call, needed))])
  }
  if (via !== undefined) {
    const ways = manyOf<string>(via)
    ofCall.push(["via", (call) => isFrom(ways, call)])
  }
  if (input !== undefined) {
    const accepts = inputCheck(input, rule)
    ofCall.push(["input", (call) => ifKnown(call, "input", () => accepts(call.input))])
  }
  return {
    isStatic: ofCall.length === 0,
    static: allOf(ofOperation),
    dynamic: allOf(ofCall),
    mismatch: (call) => [...ofOperation, ...ofCall].find(([, test]) => test(call) !== true)?.[0],
  }
}

function allOf(tests: readonly FieldTest[]): Test {
  return (call) => {
    let isMet: boolean | undefined = true
    for (const [, test] of tests) {
      const matches = test(call)
      if (matches === false) return false
      if (matches === undefined) isMet = undefined
    }
    return isMet
  }
}

function ifKnown(
  call: ApprovalCall,
  name: keyof ApprovalCall,
  test: () => boolean,
): boolean | undefined {
  return name in call ? test() : undefined
}

/** Rules for `console` apply besides those for the way in which it calls: other clients can say that they are one. */
function isFrom(ways: readonly string[], call: ApprovalCall): boolean | undefined {
  const { via, program } = call
  if (isOneOf(ways, via) || isOneOf(ways, program)) return true
  const canBeConsole = via === undefined || via === "http" || via === "websocket"
  if (canBeConsole && ways.includes("console") && !("program" in call)) return undefined
  return "via" in call ? false : undefined
}

function isOneOf(texts: readonly string[], text: unknown): boolean {
  return typeof text === "string" && texts.includes(text)
}

const ANNOTATIONS = ["readOnly", "destructive", "idempotent", "openWorld"] as const

/** An annotation of an operation; the worst case if it has none, or only claims it. */
function annotationOf(
  { spec, hasClaims }: ApprovalCall,
  name: (typeof ANNOTATIONS)[number],
): boolean {
  const annotated = hasClaims === true ? undefined : spec.annotations?.[name]
  if (annotated !== undefined) return annotated
  const reads = spec.type !== "mutation"
  return name === "openWorld" ? true : name === "destructive" ? !reads : reads
}

function hasScopes({ identity }: ApprovalCall, needed: readonly string[]): boolean {
  const scopes: unknown = identity?.scopes
  return Array.isArray(scopes) && needed.every((scope) => scopes.includes(scope))
}

function inputCheck(schema: object, rule: string): (input: unknown) => boolean {
  const compiled = compileJson(withNamedRequired(schema))
  if (compiled.isOpen) {
    throw new TypeError(
      `${rule}: "input" accepts every input. Write a JSON Schema, such as { properties: { owner: { const: "acme" } } }.`,
    )
  }
  return (input) => compiled.check(input)
}

/**
 * A schema that also requires the properties that it names: a condition on what is missing would be true for every input
 * without it.
 */
function withNamedRequired(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const strict: Record<string, unknown> = { ...schema }
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const parts = schema[keyword]
    if (Array.isArray(parts)) strict[keyword] = parts.map(withNamedRequired)
  }
  const { properties, required } = schema
  if (!isRecord(properties)) return strict
  strict["type"] ??= "object"
  strict["properties"] = Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, withNamedRequired(part)]),
  )
  const named = Array.isArray(required) ? (required as unknown[]) : []
  strict["required"] = [...new Set([...named, ...Object.keys(properties)])]
  return strict
}

/** Throws a `TypeError` unless a function returned a verdict or nothing. */
export function verdictOf(returned: unknown, rule: string): Verdict | undefined {
  if (
    returned === undefined ||
    (typeof returned === "string" && Object.hasOwn(STRICTNESS, returned))
  ) {
    return returned as Verdict | undefined
  }
  throw new TypeError(
    `The function of approvals (${rule}) must return "allow", "ask", "deny" or undefined, got ${typeName(returned)}.`,
  )
}

function both(left: boolean | undefined, right: () => boolean | undefined): boolean | undefined {
  if (left === false) return false
  const other = right()
  return left === undefined && other === true ? undefined : other
}

function not(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value
}

/** A list, or one item as a list. */
export function manyOf<TItem>(value: TItem | readonly TItem[]): readonly TItem[] {
  return Array.isArray(value) ? (value as readonly TItem[]) : [value as TItem]
}
