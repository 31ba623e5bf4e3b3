import type { OptionRule, OptionsSchema } from "../internal/options.ts"
import { CALL_WAYS } from "./types.ts"
import type { CallWay, Identity, OperationSpec, OperationType } from "./types.ts"

/** What happens to a call: it runs, a person is asked first, or it fails with `DENIED_BY_RULE`. */
export type Verdict = "allow" | "ask" | "deny"

/** To which calls a rule applies: those that match every field. */
export interface ApprovalCondition {
  /** Ids; `*` stands for any part: `"github.issues_*"`. */
  readonly match?: string | readonly string[] | undefined
  readonly type?: OperationType | readonly OperationType[] | undefined
  /**
   * Annotations of the operation. Those that a source of operations only claims do not count: such an operation is taken
   * for one that is destructive, not idempotent, and open to the world, and reads only if it is a query.
   */
  readonly readOnly?: boolean | undefined
  readonly destructive?: boolean | undefined
  readonly idempotent?: boolean | undefined
  readonly openWorld?: boolean | undefined
  /** The id of the caller is one of these. */
  readonly callers?: string | readonly string[] | undefined
  /** The caller has all of these scopes. */
  readonly scopes?: string | readonly string[] | undefined
  readonly via?: CallWay | readonly CallWay[] | undefined
  /** A JSON Schema that the input satisfies; the input must also have every property that the schema names. */
  readonly input?: object | undefined
}

/** What happens to the calls that it applies to. */
export interface ApprovalRule extends ApprovalCondition {
  readonly decide: Verdict
  /** Calls that it does not apply to. */
  readonly unless?: ApprovalCondition | undefined
  /** For callers and for people who are asked. */
  readonly reason?: string | undefined
  /** `ask` also for nested calls, which the approval of the outer call includes otherwise. */
  readonly nested?: boolean | undefined
}

/** A call as rules see it. */
export interface ApprovalCall {
  readonly operationId: string
  readonly spec: Pick<OperationSpec, "type" | "annotations">
  readonly identity?: Identity | undefined
  /** As the handler gets it. */
  readonly input?: unknown
  readonly via?: CallWay | undefined
  /** The outermost call came from a client that says that it is this one; it may be another one. */
  readonly program?: "console" | undefined
  /** Another call made it. */
  readonly isNested?: boolean | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The annotations are claims of a source that is not trusted. */
  readonly hasClaims?: boolean | undefined
}

/** Decides about a call; `undefined` leaves it to the rules that follow. If it throws, the call fails. */
export type ApprovalFunction = (
  call: ApprovalCall,
) => Verdict | undefined | Promise<Verdict | undefined>

/** Rules, the first of which that applies to a call counts; or one function. */
export type ApprovalList = ApprovalFunction | readonly (ApprovalRule | ApprovalFunction)[]

/** What was decided about a call, and by what. */
export interface ApprovalDecision {
  readonly decide: Verdict
  /** The rule, such as `"hub rule 2"`; `undefined` if none applies. */
  readonly rule?: string | undefined
  readonly reason?: string | undefined
  /** The rule asks about nested calls, too. */
  readonly nested?: boolean | undefined
}

/** What one rule says of a call. */
export interface RuleOutcome {
  readonly rule: string
  /** `later`: an earlier rule of its list applies. */
  readonly state: "applies" | "differs" | "later"
  /** What it decides where it applies; of a function what it returned. */
  readonly decide?: Verdict | undefined
  readonly reason?: string | undefined
  /** The first field of the rule that the call does not match. */
  readonly field?: keyof ApprovalRule | undefined
}

/** Why a call is decided as it is. */
export interface ApprovalTest {
  readonly decision: ApprovalDecision
  readonly rules: readonly RuleOutcome[]
}

/** The decision about a call that runs, and who approved it. */
export interface CallApproval extends ApprovalDecision {
  /** The id of the person who approved it; `"caller"` if the caller was asked. */
  readonly approvedBy?: string | undefined
  /** Milliseconds since 1970. */
  readonly approvedAt?: number | undefined
}

const TEXTS: OptionRule = { either: ["text", { list: "text" }] }

const CONDITION: OptionsSchema<ApprovalCondition> = {
  match: TEXTS,
  type: /* @__PURE__ */ oneOrMore(["query", "mutation", "subscription"]),
  readOnly: "boolean",
  destructive: "boolean",
  idempotent: "boolean",
  openWorld: "boolean",
  callers: TEXTS,
  scopes: TEXTS,
  via: /* @__PURE__ */ oneOrMore(CALL_WAYS),
  input: { members: {}, open: true },
}

const APPROVAL_RULE: OptionsSchema<ApprovalRule> = /* @__PURE__ */ Object.assign(
  {
    decide: { required: { oneOf: ["allow", "ask", "deny"] } },
    unless: { members: CONDITION },
    reason: "text",
    nested: "boolean",
  } as const,
  CONDITION,
)

/** Rules in a configuration. */
export const APPROVAL_RULES: OptionRule = { list: { members: APPROVAL_RULE } }

/** Rules in code. */
export const APPROVAL_LIST: OptionRule = {
  either: ["function", { list: { either: ["function", { members: APPROVAL_RULE }] } }],
}

function oneOrMore(values: readonly string[]): OptionRule {
  return { either: [{ oneOf: values }, { list: { oneOf: values } }] }
}
