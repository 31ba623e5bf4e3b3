import type { ApprovalAnswer, WaitingApproval } from "../approvals/tickets.ts"
import type { ApprovalTest } from "../core/approvals.ts"
import { CALL_WAYS, type CallOptions } from "../core/types.ts"
import type { FromEntry } from "../core/tracing.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { validateOrThrow } from "../core/validation.ts"
import { FromSchema } from "../schema/from-schema.ts"
import { jsonAnswer } from "../serve/http/answer.ts"
import type { HTTPAnswer } from "../serve/exchange.ts"
import { HTTPRefusal, type RouteRequest } from "../serve/http/context.ts"
import type { HTTPContext } from "../serve/http/http-context.ts"
import type { OperationRegistry } from "../engine/registry.ts"
import type { StandingApprovals } from "../approvals/standing.ts"

/** The calls that wait, and how they can be approved. */
export interface WaitingApprovals {
  readonly waiting: readonly WaitingApproval[]
  /** Whether a person can approve all calls of an operation by a caller, until they remove that. */
  readonly canAlways: boolean
}

/** A call that is tested against the rules. */
export interface TestedCall {
  readonly operationId: string
  readonly input?: unknown
  readonly via?: CallOptions["via"]
  /** The id of the caller; anonymous without. */
  readonly caller?: string | undefined
  readonly scopes?: readonly string[] | undefined
}

/** Lists the calls that wait. */
export function listApprovals(
  context: HTTPContext,
  standing: StandingApprovals | undefined,
): HTTPAnswer {
  const waiting = context.registry.approvals?.waiting ?? []
  const list: WaitingApprovals = { waiting, canAlways: standing !== undefined }
  return jsonAnswer(JSON.stringify(list))
}

/** Approves or declines a call that waits. */
export async function answerApproval(
  context: HTTPContext,
  { incoming, params: [id = ""], caller }: RouteRequest,
  standing: StandingApprovals | undefined,
): Promise<HTTPAnswer> {
  const given = context.parseBody(await incoming.readBody(context.options.maxBodyBytes))
  validateOrThrow(ANSWER, given, "The answer to an approval")
  const { always, ...rest } = given as ApprovalAnswer & { readonly always?: boolean }
  const by = caller.identity?.id
  const { approvals } = context.registry
  const call = approvals?.waiting.find((one) => one.id === id)
  if (call !== undefined && always === true && rest.approve) {
    if (standing === undefined) throw new HTTPRefusal(400, "VALIDATION_ERROR", NO_FILE)
    const { operationId: operation } = call
    await standing.add({
      operation,
      caller: call.caller ?? null,
      by,
      at: wallTimeOf(context.clock),
    })
  }
  if (approvals?.answer(id, { ...rest, by }) === true)
    return jsonAnswer(JSON.stringify({ id, ...rest, always, by }))
  throw new HTTPRefusal(
    404,
    "NOT_FOUND",
    `No call waits for the approval "${id.slice(0, 200)}": it was answered, or has expired.`,
  )
}

const NO_FILE =
  '"always" needs a file for such approvals: serve the hub with "operations serve", or with the option "approvalsFile".'

/** Says which decision the rules take about a call, and why; the call is not made. */
export async function answerTest(
  context: HTTPContext,
  { incoming }: RouteRequest,
): Promise<HTTPAnswer> {
  const given = context.parseBody(await incoming.readBody(context.options.maxBodyBytes))
  validateOrThrow(TESTED, given, "A test of approvals")
  const tested = await testApproval(context.registry as OperationRegistry, given as TestedCall)
  return jsonAnswer(JSON.stringify(tested))
}

/** What the rules say of a call, on the input as the handler would get it; access is not checked. */
export async function testApproval(
  registry: OperationRegistry,
  { operationId, input = {}, via = "call", caller, scopes = [] }: TestedCall,
): Promise<ApprovalTest> {
  if (registry.approvals === undefined) return { decision: { decide: "allow" }, rules: [] }
  const identity = caller === undefined ? undefined : { id: caller, scopes: [...scopes] }
  const options: CallOptions & FromEntry = {
    ...{ identity, via: via === "console" ? "http" : via, dryRun: true },
    ...(via === "console" && { entry: { isPublic: true, program: via } }),
  }
  const { data } = await registry.trusted.execute(operationId, input, options)
  return await registry.approvals.explain(data as object)
}

const ANSWER = FromSchema({
  type: "object",
  properties: {
    approve: { type: "boolean" },
    session: { type: "boolean" },
    always: { type: "boolean" },
  },
  required: ["approve"],
  additionalProperties: false,
})

const TESTED = FromSchema({
  type: "object",
  properties: {
    operationId: { type: "string" },
    input: true,
    via: { enum: [...CALL_WAYS] },
    caller: { type: "string", minLength: 1 },
    scopes: { type: "array", items: { type: "string" } },
  },
  required: ["operationId"],
  additionalProperties: false,
})
