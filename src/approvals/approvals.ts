// What a person has to approve. Runs as the outermost middleware; what asks is loaded when it is first needed.
import {
  APPROVAL_LIST,
  type ApprovalCall,
  type ApprovalDecision,
  type ApprovalList,
  type ApprovalTest,
} from "../core/approvals.ts"
import { refusal, type CallError } from "../core/errors.ts"
import type { Middleware, MiddlewareCall } from "../core/middleware.ts"
import { systemClock } from "../internal/clock.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import type { Clock } from "../internal/platform.ts"
import { calledFor } from "./call-function.ts"
import { compileList, isStricter, unmatched, type CompiledList, type ListsOf } from "./rules.ts"
import { possibleVerdicts, type Outlook } from "./outlook.ts"
import type { ApprovalRequests } from "./requests.ts"
import type { StandingApprovals } from "./standing.ts"
import type { ApprovalAnswer, WaitingApproval } from "./tickets.ts"

/** Creates approvals from lists of rules: of several lists, the strictest decision counts. */
export function createApprovals(...lists: readonly ApprovalList[]): Approvals {
  return new Approvals(fixedLists("createApprovals", lists))
}

/** Compiles lists that count for all operations. Throws a `TypeError` for the first invalid rule. */
export function fixedLists(caller: string, lists: readonly ApprovalList[]): ListsOf {
  validateOptions(caller, { lists }, { lists: { list: APPROVAL_LIST } })
  const compiled = lists.map((list, index) =>
    compileList(list, lists.length === 1 ? "approvals" : `approvals list ${index + 1}`),
  )
  return () => compiled
}

export const ANSWER_OPTIONS: OptionsSchema<ApprovalAnswer> = {
  approve: { required: "boolean" },
  by: "string",
  session: "boolean",
}

/** Decides what a person has to approve first, and keeps what was asked. */
export class Approvals {
  readonly #clock: Clock
  /** The calls of dry runs, by their reports. */
  readonly #dryRuns = new WeakMap<object, ApprovalCall>()
  #listsOf: ListsOf
  #requests: ApprovalRequests | undefined
  #address: ((id: string) => string) | undefined
  #standing: StandingApprovals | undefined

  /** @internal */
  constructor(listsOf: ListsOf, clock: Clock = systemClock) {
    this.#listsOf = listsOf
    this.#clock = clock
  }

  /** The calls that wait for a person, the oldest first. */
  get waiting(): readonly WaitingApproval[] {
    return this.#requests?.waiting ?? []
  }

  /**
   * Approves or declines a call that waits; its caller makes it again. Returns `false` if there is none with this id, or no
   * longer.
   */
  answer(id: string, answer: ApprovalAnswer): boolean {
    validateOptions("answer", answer, ANSWER_OPTIONS)
    return this.#requests?.answer(id, answer) ?? false
  }

  /** What the rules say of a call. A promise if a function of the rules returns one. */
  decide(call: ApprovalCall): ApprovalDecision | Promise<ApprovalDecision> {
    const whole: ApprovalCall = {
      identity: undefined,
      input: undefined,
      program: undefined,
      ...call,
      via: call.via ?? "call",
    }
    return this.#strictest(this.#listsOf(call.operationId), whole, 0, undefined)
  }

  /** @internal Replaces the rules; what was approved stays approved. */
  setLists(listsOf: ListsOf): void {
    this.#listsOf = listsOf
  }

  /** @internal Where a person can approve a call. */
  setAddress(address: ((id: string) => string) | undefined): void {
    this.#address = address
  }

  /** @internal Where a person keeps approvals that hold until they remove them. */
  setStanding(standing: StandingApprovals | undefined): void {
    this.#standing = standing
  }

  /** @internal What may happen to the calls of an operation, as far as they are known. */
  outlook(call: ApprovalCall): Outlook {
    return possibleVerdicts(this.#listsOf(call.operationId), call)
  }

  /** @internal The middleware for an operation; `undefined` if all its calls run. */
  for(
    operation: Pick<ApprovalCall, "operationId" | "spec" | "hasClaims">,
    repeats: (call: MiddlewareCall) => boolean | undefined,
  ): Middleware | undefined {
    if (this.outlook(operation).isFree) return undefined
    const { hasClaims } = operation
    const admit = (call: MiddlewareCall): Promise<void> | undefined => {
      const follow = (decision: ApprovalDecision): Promise<void> | undefined =>
        this.#follow(call, decision, repeats)
      const decided = this.judge(call, hasClaims)
      return decided instanceof Promise ? decided.then(follow) : follow(decided)
    }
    return {
      call: (call, next) => admit(call)?.then(() => next()) ?? next(),
      stream: async function* (call, next) {
        await admit(call)
        yield* next()
      },
    }
  }

  /** @internal What the rules say of a call that has been made. */
  judge(
    call: MiddlewareCall,
    hasClaims: boolean | undefined,
  ): ApprovalDecision | Promise<ApprovalDecision> {
    if (call.trusted) return RUNS
    const subject = subjectOf(call, hasClaims)
    return this.#strictest(this.#listsOf(call.operationId), subject, 0, undefined)
  }

  /** @internal Remembers the call of a dry run, so that the decision in its report can be explained. */
  noteDryRun(report: object, call: MiddlewareCall, hasClaims: boolean | undefined): void {
    this.#dryRuns.set(report, subjectOf(call, hasClaims))
  }

  /** @internal Explains the decision about the call of a dry run. */
  async explain(report: object): Promise<ApprovalTest> {
    const { explainCall } = await import("./explain.ts")
    const call = this.#dryRuns.get(report)
    if (call === undefined) return { decision: RUNS, rules: [] }
    const lists = this.#listsOf(call.operationId)
    const decision = await this.#strictest(lists, call, 0, undefined)
    return { decision, rules: await explainCall(lists, call) }
  }

  /** @internal What is wrong with the rules for these operations. */
  async review(operations: readonly ApprovalCall[]): Promise<readonly string[]> {
    const { reviewRules } = await import("./review.ts")
    return reviewRules(this.#listsOf, operations)
  }

  /** Returns nothing if a call runs now; rejects if it does not run. */
  #follow(
    call: MiddlewareCall,
    decision: ApprovalDecision,
    repeats: (call: MiddlewareCall) => boolean | undefined,
  ): Promise<void> | undefined {
    // Calls that do not run have one, too.
    if (decision !== RUNS) call.noteApproval?.(decision)
    switch (decision.decide) {
      case "deny":
        return Promise.reject(denied(call, decision))
      case "ask":
        // The approval of the outer call includes what it consists of.
        if ((call.isNested && decision.nested !== true) || repeats(call)) return undefined
        return this.#ask(call, decision)
      case "allow":
        return undefined
    }
  }

  async #ask(call: MiddlewareCall, decision: ApprovalDecision): Promise<void> {
    const { ApprovalRequests } = await import("./requests.ts")
    this.#requests ??= new ApprovalRequests(
      this.#clock,
      (id) => this.#address?.(id),
      () => this.#standing,
    )
    await this.#requests.ask(call, decision)
  }

  /** The strictest decision of lists. */
  #strictest(
    lists: readonly CompiledList[],
    call: ApprovalCall,
    from: number,
    found: ApprovalDecision | undefined,
  ): ApprovalDecision | Promise<ApprovalDecision> {
    let strictest = found
    for (let index = from; index < lists.length && strictest?.decide !== "deny"; index++) {
      const decision = firstOf(lists[index] as CompiledList, call, 0)
      if (decision instanceof Promise) {
        return decision.then((late) =>
          this.#strictest(lists, call, index + 1, stricterOf(strictest, late)),
        )
      }
      strictest = stricterOf(strictest, decision)
    }
    return strictest ?? unmatched(call)
  }
}

/** The decision about calls to which no rule applies. */
const RUNS: ApprovalDecision = { decide: "allow" }

/** The decision of the first rule that applies. */
function firstOf(
  list: CompiledList,
  call: ApprovalCall,
  from: number,
): ApprovalDecision | undefined | Promise<ApprovalDecision | undefined> {
  for (let index = from; index < list.length; index++) {
    const compiled = list[index] as CompiledList[number]
    const { decide, rule = "", reason, nested, decideBy } = compiled
    if (compiled.applies(call) !== true) continue
    if (decideBy === undefined) return { decide, rule, reason, nested }
    const verdict = calledFor(decideBy, call, rule)
    if (verdict instanceof Promise) {
      return verdict.then((late) =>
        late === undefined ? firstOf(list, call, index + 1) : { decide: late, rule },
      )
    }
    if (verdict !== undefined) return { decide: verdict, rule }
  }
  return undefined
}

function subjectOf(call: MiddlewareCall, hasClaims: boolean | undefined): ApprovalCall {
  const { operationId, spec, identity, input, via, program, isNested, metadata } = call
  return { operationId, spec, identity, input, via, program, isNested, metadata, hasClaims }
}

function stricterOf(
  left: ApprovalDecision | undefined,
  right: ApprovalDecision | undefined,
): ApprovalDecision | undefined {
  return right !== undefined && isStricter(right, left) ? right : left
}

function denied({ operationId }: MiddlewareCall, { rule, reason }: ApprovalDecision): CallError {
  return refusal(
    "DENIED_BY_RULE",
    `"${operationId}" was not called: a rule denies it${reason === undefined ? "." : `: ${reason}`}`,
    { operationId, details: { rule, reason } },
  )
}
