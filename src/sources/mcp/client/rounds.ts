import type { JsonObject } from "../../../mcp/model.ts"
import { CallError } from "../../../core/errors.ts"
import type { ResolvedServer } from "../config.ts"
import { memberOf } from "./sdk.ts"
import { answerQuestion, isQuestion } from "./input.ts"
import type { RequestInput } from "./model.ts"
import type { RequestTimeout } from "./request-timeout.ts"

/** Maximum number of rounds of questions in one call. */
const MAX_ROUNDS = 10
// Pause before the next round when the server has no question.
const PAUSE_MS = 250

/** A call in which the server may ask questions. */
export interface Rounds {
  readonly server: ResolvedServer
  readonly tool: string | undefined
  readonly timeout: RequestTimeout
  readonly requestInput: RequestInput | undefined
  /** Whether results can be questions; results of legacy servers may have a member of the same name. */
  readonly mayAsk: () => boolean
  /** Sends the request with the additional parameters of the last round. */
  readonly send: (extra: JsonObject) => Promise<JsonObject>
}

/**
 * Sends a request until its result is complete, and answers the server's questions in between.
 *
 * The server is stateless: each round sends the whole request again, with the answers and the unchanged
 * `requestState` of the server.
 */
export async function runRounds(rounds: Rounds): Promise<JsonObject> {
  const asked = new Map<string, number>()
  let extra: JsonObject = {}
  for (let round = 0; ; round++) {
    const result = await rounds.send(extra)
    const type = memberOf(result, "resultType")
    if (type === undefined || type === "complete" || !rounds.mayAsk()) return result
    if (type !== "input_required") {
      const shown = JSON.stringify(type)
      throw serverError(rounds, `was answered with a result of the unknown type ${shown}`)
    }
    if (round >= MAX_ROUNDS) {
      throw serverError(rounds, `still asks after ${MAX_ROUNDS} rounds; the call was given up`)
    }
    extra = await answerRound(result, rounds, asked)
  }
}

async function answerRound(
  result: JsonObject,
  rounds: Rounds,
  asked: Map<string, number>,
): Promise<JsonObject> {
  const { timeout } = rounds
  const wanted = memberOf(result, "inputRequests")
  const questions = typeof wanted === "object" && wanted !== null ? Object.entries(wanted) : []
  const requestState = memberOf(result, "requestState")
  const state = typeof requestState === "string" ? { requestState } : {}
  if (questions.length === 0) {
    if (typeof requestState !== "string") {
      throw serverError(rounds, "asks for input but does not say which")
    }
    await timeout.wait(PAUSE_MS)
    return state
  }
  timeout.stop(1)
  // All at once, so that the caller sees all questions together.
  const answers = Promise.all(
    questions.map(async ([key, question]) => {
      // The same key in a later round is another question.
      const count = (asked.get(key) ?? 0) + 1
      asked.set(key, count)
      const ownKey = count === 1 ? key : `${key}#${count}`
      return [key, await answer(ownKey, question, rounds)] as const
    }),
  )
  try {
    return { inputResponses: Object.fromEntries(await timeout.race(answers, true)), ...state }
  } finally {
    timeout.stop(-1)
  }
}

function answer(key: string, question: unknown, rounds: Rounds): Promise<JsonObject> {
  const { server, tool, requestInput } = rounds
  const method = memberOf(question, "method")
  if (!isQuestion(method)) {
    throw serverError(rounds, `asks for ${JSON.stringify(method)}, which is not supported`)
  }
  const about = { server: server.name, tool }
  return answerQuestion(method, memberOf(question, "params"), about, server, requestInput, key)
}

function serverError({ server, tool }: Rounds, what: string): CallError {
  const who = tool === undefined ? "The request" : `"${tool}"`
  return new CallError(
    "EXECUTION_ERROR",
    `${who} of MCP server "${server.name}" ${what}. The server has to be fixed.`,
    { mayHaveExecuted: true, details: { reason: "UNSUPPORTED" } },
  )
}
