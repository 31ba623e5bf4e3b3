import { CallError } from "../../../core/errors.ts"
import type { MCPAsker, ResolvedServer } from "../config.ts"
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
  readonly about: MCPAsker
  readonly timeout: RequestTimeout
  readonly requestInput: RequestInput | undefined
  /** Whether results can be questions; results of legacy servers may have a member of the same name. */
  readonly mayAsk: () => boolean
  /** Sends the request with the additional parameters of the last round. */
  send(extra: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
}

/**
 * Sends a request until its result is complete, and answers the server's questions in between.
 *
 * The server is stateless: each round sends the whole request again, with the answers and the unchanged
 * `requestState` of the server.
 */
export async function runRounds(rounds: Rounds): Promise<Readonly<Record<string, unknown>>> {
  const asked = new Map<string, number>()
  let extra: Readonly<Record<string, unknown>> = {}
  for (let round = 0; ; round++) {
    const result = await rounds.send(extra)
    const type = memberOf(result, "resultType")
    if (type === undefined || type === "complete" || !rounds.mayAsk()) return result
    if (type !== "input_required") {
      throw serverError(
        rounds,
        `was answered with a result of the unknown type ${JSON.stringify(type)}`,
      )
    }
    if (round >= MAX_ROUNDS) {
      throw serverError(rounds, `still asks after ${MAX_ROUNDS} rounds; the call was given up`)
    }
    extra = await answerRound(result, rounds, asked)
  }
}

async function answerRound(
  result: Readonly<Record<string, unknown>>,
  rounds: Rounds,
  asked: Map<string, number>,
): Promise<Readonly<Record<string, unknown>>> {
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
  // All at once, so that the caller sees all questions together.
  const answers = Promise.all(
    questions.map(
      async ([key, question]) => [key, await answer(newKey(key, asked), question, rounds)] as const,
    ),
  )
  return { inputResponses: Object.fromEntries(await timeout.race(answers, true)), ...state }
}

/** Makes keys unique across rounds: the same key in a later round is another question. */
function newKey(key: string, asked: Map<string, number>): string {
  const count = (asked.get(key) ?? 0) + 1
  asked.set(key, count)
  return count === 1 ? key : `${key}#${count}`
}

function answer(
  key: string,
  question: unknown,
  rounds: Rounds,
): Promise<Readonly<Record<string, unknown>>> {
  const { about, server, requestInput } = rounds
  const method = memberOf(question, "method")
  if (!isQuestion(method)) {
    throw serverError(rounds, `asks for ${JSON.stringify(method)}, which is not supported`)
  }
  return answerQuestion(method, memberOf(question, "params"), about, server, requestInput, key)
}

function serverError({ about }: Rounds, what: string): CallError {
  const who = about.tool === undefined ? "The request" : `"${about.tool}"`
  return new CallError(
    "EXECUTION_ERROR",
    `${who} of MCP server "${about.server}" ${what}. The server has to be fixed.`,
    { mayHaveExecuted: true, details: { reason: "UNSUPPORTED" } },
  )
}
