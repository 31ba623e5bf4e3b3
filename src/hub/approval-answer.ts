import type { ApprovalAnswer } from "../approvals/tickets.ts"
import { validateOrThrow } from "../core/validation.ts"
import { FromSchema } from "../schema/from-schema.ts"
import { jsonAnswer } from "../serve/http/answer.ts"
import type { HTTPAnswer } from "../serve/exchange.ts"
import { HTTPRefusal, type RouteRequest } from "../serve/http/context.ts"
import type { HTTPContext } from "../serve/http/http-context.ts"

/** Approves or declines a call that waits. */
export async function answerApproval(
  context: HTTPContext,
  { incoming, params: [id = ""], caller }: RouteRequest,
): Promise<HTTPAnswer> {
  const given = context.parseBody(await incoming.readBody(context.options.maxBodyBytes))
  validateOrThrow(ANSWER, given, "The answer to an approval")
  const answer = { ...(given as Omit<ApprovalAnswer, "by">), by: caller.identity?.id }
  if (context.registry.approvals?.answer(id, answer) === true)
    return jsonAnswer(JSON.stringify({ id, ...answer }))
  throw new HTTPRefusal(
    404,
    "NOT_FOUND",
    `No call waits for the approval "${id.slice(0, 200)}": it was answered, or has expired.`,
  )
}

const ANSWER = FromSchema({
  type: "object",
  properties: { approve: { type: "boolean" }, session: { type: "boolean" } },
  required: ["approve"],
  additionalProperties: false,
})
