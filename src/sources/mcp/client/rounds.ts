import { CallError } from "../../../core/errors.ts"
import type { MCPAsker, SettledServer } from "../config.ts"
import { memberOf } from "./frames.ts"
import { answerQuestion, isQuestion } from "./input.ts"
import type { RequestInput } from "./input.ts"
import type { Patience } from "./patience.ts"

/** How often one call may ask. */
const MOST_ROUNDS = 10
// A server that only wants to be asked again is not asked at once.
const PAUSE_MS = 250

/** What a call that may be asked back is made of. */
export interface Rounds {
  readonly settled: SettledServer
  readonly about: MCPAsker
  readonly patience: Patience
  readonly requestInput: RequestInput | undefined
  /** Results may ask; those of older servers may have a member of the same name. */
  readonly mayAsk: () => boolean
  /** Sends the request, with what the last round added to its parameters. */
  send(extra: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
}

/**
 * Sends a request until its result is complete, answering in between what the server wants to know.
 *
 * The server keeps nothing: each round is the whole request once more, with the answers and with the
 * state that the server gave, which is sent back as it came.
 */
export async function runRounds(rounds: Rounds): Promise<Readonly<Record<string, unknown>>> {
  const asked = new Map<string, number>()
  let extra: Readonly<Record<string, unknown>> = {}
  for (let round = 0; ; round++) {
    const result = await rounds.send(extra)
    const type = memberOf(result, "resultType")
    if (type === undefined || type === "complete" || !rounds.mayAsk()) return result
    if (type !== "input_required") {
      throw fault(rounds, `was answered with a result of the unknown type ${JSON.stringify(type)}`)
    }
    if (round >= MOST_ROUNDS) {
      throw fault(rounds, `still asks after ${MOST_ROUNDS} rounds, and was given up`)
    }
    extra = await answerRound(result, rounds, asked)
  }
}

async function answerRound(
  result: Readonly<Record<string, unknown>>,
  rounds: Rounds,
  asked: Map<string, number>,
): Promise<Readonly<Record<string, unknown>>> {
  const { patience } = rounds
  const wanted = memberOf(result, "inputRequests")
  const questions = typeof wanted === "object" && wanted !== null ? Object.entries(wanted) : []
  const requestState = memberOf(result, "requestState")
  const state = typeof requestState === "string" ? { requestState } : {}
  if (questions.length === 0) {
    if (typeof requestState !== "string") {
      throw fault(rounds, "asks for input, and does not say for which")
    }
    await patience.wait(PAUSE_MS)
    return state
  }
  // At the same time, so that whoever is asked sees all of them.
  const answers = Promise.all(
    questions.map(
      async ([key, question]) => [key, await answer(newKey(key, asked), question, rounds)] as const,
    ),
  )
  return { inputResponses: Object.fromEntries(await patience.race(answers, true)), ...state }
}

/** A question of a later round is another one, even if the server calls it the same. */
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
  const { about, settled, requestInput } = rounds
  const method = memberOf(question, "method")
  if (!isQuestion(method)) {
    throw fault(rounds, `asks for ${JSON.stringify(method)}, which is not known`)
  }
  return answerQuestion(method, memberOf(question, "params"), about, settled, requestInput, key)
}

function fault({ about }: Rounds, what: string): CallError {
  const who = about.tool === undefined ? "The request" : `"${about.tool}"`
  return new CallError(
    "EXECUTION_ERROR",
    `${who} of MCP server "${about.server}" ${what}. The server has to be mended.`,
    { mayHaveExecuted: true, details: { reason: "UNSUPPORTED" } },
  )
}
