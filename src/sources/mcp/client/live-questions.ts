import { isCapabilityRequired } from "../../../mcp/errors.ts"
import type { ResolvedServer } from "../config.ts"
import { rpcError, type SessionRequest } from "./running-request.ts"
import { QUESTIONS, answerQuestion } from "./input.ts"
import type { LogLines } from "./log-lines.ts"
import type { ClientLike } from "./sdk.ts"

/** The only one of several calls: what a server sends in between does not say which call it belongs to. */
export function onlyOf(calls: readonly SessionRequest[]): SessionRequest | undefined {
  return calls.length === 1 ? calls[0] : undefined
}

/**
 * Answers the requests of the server on a legacy connection; in the modern era, results contain the questions.
 *
 * `callsOf` returns the running calls.
 */
export function answerQuestions(
  client: ClientLike,
  capabilities: Readonly<Record<string, unknown>>,
  server: ResolvedServer,
  log: LogLines,
  callsOf: () => readonly SessionRequest[],
): void {
  for (const method of QUESTIONS) {
    const [key = ""] = method.split("/", 1)
    if (!(key in capabilities)) continue
    client.setRequestHandler(method, async ({ params }) => {
      const calls = callsOf()
      const only = onlyOf(calls)
      for (const { timeout } of calls) timeout.pause()
      try {
        const about = { server: server.name, tool: only?.tool }
        const answer = answerQuestion(method, params, about, server, only?.requestInput)
        return await (only === undefined ? answer : only.timeout.race(answer, true))
      } catch (error) {
        // The server is notified that the call is over. If the tool got an answer nevertheless, it would go on,
        // and its next question would go to another caller: questions do not say which call they belong to.
        if (only?.timeout.isOver === true) return await new Promise<never>(() => {})
        if (calls.length > 1 && isCapabilityRequired(error)) {
          throw rpcError(reportUnasked(key, server, log, calls))
        }
        // If no one was asked, the answer is an error, neither "decline" nor "cancel".
        if (method !== "elicitation/create" || isCapabilityRequired(error)) throw rpcError(error)
        return { action: "cancel" }
      } finally {
        for (const { timeout } of calls) timeout.resume()
      }
    })
  }
}

/** Reports a question that was not passed on, since any of several calls may have led to it; returns the reason. */
function reportUnasked(
  capability: string,
  { name, logger }: ResolvedServer,
  log: LogLines,
  calls: readonly SessionRequest[],
): string {
  const reason = `MCP server "${name}" asks for ${capability}, and does not say for which of ${calls.length} running calls, so the question was not passed on. Make such calls one after the other, or set "maxConcurrency" of the server to 1.`
  logger.warn(reason, { server: name, tools: calls.map(({ tool }) => tool) })
  for (const call of calls) log.warn(reason, call)
  return reason
}
