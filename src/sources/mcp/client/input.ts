import type { JsonObject } from "../../../mcp/model.ts"
import { isRecord } from "../../../internal/guards.ts"
import { checkedAnswer } from "../../../core/input-requests.ts"
import { CallError, isCallError } from "../../../core/errors.ts"
import type { MCPAsker, ResolvedServer } from "../config.ts"
import { capabilityRequired, isCapabilityRequired } from "../../../mcp/errors.ts"
import type { InputRequest, InputResponse } from "../../../core/types.ts"
import type { LogLines } from "./log-lines.ts"
import type { RequestInput } from "./model.ts"
import { rpcError, type SessionRequest } from "./running-request.ts"
import { memberOf, type ClientLike } from "./sdk.ts"

/** The requests that a server may send, and the capabilities of clients that answer them. */
const CAPABILITY = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
} as const

type Question = keyof typeof CAPABILITY

export function isQuestion(method: unknown): method is Question {
  return typeof method === "string" && Object.hasOwn(CAPABILITY, method)
}

/**
 * Asks the caller, then the configured handlers, and returns the answer in the format of the protocol.
 *
 * Rejects with an error of `capabilityRequired` when nothing can answer.
 */
export async function answerQuestion(
  method: Question,
  params: unknown,
  about: MCPAsker,
  server: ResolvedServer,
  requestInput: RequestInput | undefined,
  key?: string,
): Promise<JsonObject> {
  // The server's key of the question is kept, for callers that forward the question.
  const asked = { ...inputRequest(method, params), ...(key !== undefined && { key }) }
  const request = asked.type === "url" ? { ...asked, url: safeUrl(asked.url, about) } : asked
  let response: InputResponse | undefined
  let refusal: unknown
  if (requestInput !== undefined) {
    try {
      response = await requestInput(request)
    } catch (error) {
      if (!isCallError(error, "UNAVAILABLE")) throw error
      refusal = error
    }
  }
  // Only for callers that cannot be asked: declining is an answer.
  response ??= await askConfigured(request, about, server)
  if (response !== undefined) {
    return result(method, request, checkedAnswer(request, response, nameOf(about)), about)
  }
  if (isCapabilityRequired(refusal)) throw refusal
  throw noAnswerError(method, about)
}

/**
 * The address as a browser would open it, without hidden characters.
 *
 * Refuses other schemes: the address may be passed to the system, where some schemes start programs.
 */
function safeUrl(url: string, { server, tool }: MCPAsker): string {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return new URL(url).href
  throw new CallError(
    "EGRESS_BLOCKED",
    `${nameOf({ server, tool })} asks to open an address that is neither http nor https; the request was refused.`,
    { mayHaveExecuted: true, details: { server, ...(tool !== undefined && { tool }) } },
  )
}

/** The error for a question that nothing can answer. */
function noAnswerError(method: Question, about: MCPAsker): Error {
  const capability = CAPABILITY[method]
  const cure =
    capability === "roots"
      ? `Set "roots" of the server`
      : `Pass "requestInput" with the call, or set "${capability}" of the server`
  return capabilityRequired(
    { [capability]: {} },
    `${nameOf(about)} asks for ${capability}, but nothing is set up to answer it. ${cure}.`,
  )
}

async function askConfigured(
  request: InputRequest,
  about: MCPAsker,
  { elicitation, sampling, roots }: ResolvedServer,
): Promise<InputResponse | undefined> {
  switch (request.type) {
    case "sampling":
      return await sampling?.(request, about)
    case "roots":
      if (roots === undefined) return undefined
      return { action: "accept", content: { roots: await roots(about) } }
    case "url":
    case "form":
    case undefined:
      return await elicitation?.(request, about)
  }
}

function inputRequest(method: Question, params: unknown): InputRequest {
  switch (method) {
    case "sampling/createMessage":
      return { type: "sampling", params: objectOf(params) }
    case "roots/list":
      return { type: "roots" }
    case "elicitation/create": {
      const message = textOf(memberOf(params, "message"))
      const url = memberOf(params, "url")
      if (memberOf(params, "mode") === "url") return { type: "url", message, url: textOf(url) }
      const schema = memberOf(params, "requestedSchema")
      return { type: "form", message, schema: objectOf(schema) }
    }
  }
}

/** The answer in the format of the protocol. */
function result(
  method: Question,
  request: InputRequest,
  { action, content }: InputResponse,
  about: MCPAsker,
): JsonObject {
  switch (method) {
    case "elicitation/create":
      if (action !== "accept" || request.type === "url") return { action }
      return { action, content: objectOf(content) }
    case "roots/list":
      return action === "accept" && Array.isArray(memberOf(content, "roots"))
        ? { roots: memberOf(content, "roots") }
        : { roots: [] }
    case "sampling/createMessage":
      if (action === "accept") return objectOf(content)
      throw new CallError(
        "ABORTED",
        `The request of MCP server "${about.server}" for a language model was declined.`,
        { mayHaveExecuted: true, details: { reason: "DECLINED", server: about.server } },
      )
  }
}

function nameOf({ server, tool }: MCPAsker): string {
  return tool === undefined ? `MCP server "${server}"` : `"${tool}" of MCP server "${server}"`
}

function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? value : {}
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** The only one of several calls: what a server sends in between does not say which call it belongs to. */
export function onlyOf(calls: readonly SessionRequest[]): SessionRequest | undefined {
  return calls.length === 1 ? calls[0] : undefined
}

/** The running calls of a session. */
export interface SessionCalls {
  all(): readonly SessionRequest[]
  /** Whichever of them led to a question: the same person answers it. */
  readonly isOfOneCaller: boolean
}

/** Answers the requests of the server on a legacy connection; in the modern era, results contain the questions. */
export function answerQuestions(
  client: ClientLike,
  capabilities: JsonObject,
  server: ResolvedServer,
  log: LogLines,
  calls: SessionCalls,
): void {
  for (const method of Object.keys(CAPABILITY).filter(isQuestion)) {
    const key = CAPABILITY[method]
    if (!(key in capabilities)) continue
    const ask = async (params: unknown): Promise<JsonObject> => {
      const running = calls.all()
      const only = onlyOf(running)
      const asked = calls.isOfOneCaller ? running.at(-1) : only
      for (const { timeout } of running) timeout.stop(1)
      try {
        const about = { server: server.name, tool: only?.tool }
        const answer = answerQuestion(method, params, about, server, asked?.requestInput)
        return await (asked === undefined ? answer : asked.timeout.race(answer, true))
      } catch (error) {
        const left = calls.all()
        if (asked !== only && asked !== undefined && left.length > 0 && !left.includes(asked)) {
          // That call has ended; the question was of another one.
          return await ask(params)
        }
        // The server is notified that the call is over. If the tool got an answer nevertheless, it would go on,
        // and its next question would go to another caller: questions do not say which call they belong to.
        if (asked?.timeout.isOver === true) return await new Promise<never>(() => {})
        if (asked === undefined && running.length > 1 && isCapabilityRequired(error)) {
          throw rpcError(reportUnasked(key, server, log, running))
        }
        // If no one was asked, the answer is an error, neither "decline" nor "cancel".
        if (method !== "elicitation/create" || isCapabilityRequired(error)) throw rpcError(error)
        return { action: "cancel" }
      } finally {
        for (const { timeout } of running) timeout.stop(-1)
      }
    }
    client.setRequestHandler(method, async ({ params }) => await ask(params))
  }
}

/** Reports a question that was not passed on, since any of several calls may have led to it; returns the reason. */
function reportUnasked(
  capability: string,
  { name, logger }: ResolvedServer,
  log: LogLines,
  calls: readonly SessionRequest[],
): string {
  const reason = `MCP server "${name}" asks for ${capability}, and does not say for which of ${calls.length} running calls, so the question was not passed on. Make such calls one after the other, or set "maxConcurrency" of the server to 1. With "sessions": "caller", callers with identities do not share a session.`
  logger.warn(reason, { server: name, tools: calls.map(({ tool }) => tool) })
  for (const call of calls) log.warn(reason, call)
  return reason
}
