// Converts questions of handlers to MCP, and answers of clients from MCP.

import type { JsonObject } from "../../mcp/model.ts"
import { CallError } from "../../core/errors.ts"
import { isRecord } from "../../internal/guards.ts"
import { capabilityRequired } from "../../mcp/errors.ts"
import type { InputRequest, InputResponse } from "../../core/types.ts"
import type { Exchange } from "./peer.ts"

/** An MCP request for input. */
export interface WireQuestion {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list"
  readonly params?: JsonObject
}

/** Converts a question to MCP. */
export function wireQuestion(request: InputRequest): WireQuestion {
  switch (request.type) {
    case "sampling":
      return { method: "sampling/createMessage", params: plain(request.params) }
    case "roots":
      return { method: "roots/list" }
    case "url":
      return {
        method: "elicitation/create",
        params: { mode: "url", message: request.message, url: request.url },
      }
    case "form":
    case undefined:
      return {
        method: "elicitation/create",
        params: { message: request.message, requestedSchema: plain(request.schema) },
      }
  }
}

/** Capabilities that a question needs and the client has not declared; `undefined` when none. */
export function missingCapabilities(
  { method, params }: WireQuestion,
  declared: JsonObject | undefined,
): JsonObject | undefined {
  switch (method) {
    case "roots/list":
      return declared?.["roots"] === undefined ? { roots: {} } : undefined
    case "sampling/createMessage": {
      const sampling = declared?.["sampling"]
      const needsTools = params?.["tools"] !== undefined || params?.["toolChoice"] !== undefined
      const required = { sampling: needsTools ? { tools: {} } : {} }
      if (!isRecord(sampling)) return required
      return needsTools && sampling["tools"] === undefined ? required : undefined
    }
    case "elicitation/create": {
      const mode = params?.["mode"] === "url" ? "url" : "form"
      const elicitation = declared?.["elicitation"]
      if (!isRecord(elicitation)) return { elicitation: { [mode]: {} } }
      // A declaration without a mode, from before modes existed, means forms.
      const isBare = elicitation["form"] === undefined && elicitation["url"] === undefined
      const isThere = elicitation[mode] !== undefined || (mode === "form" && isBare)
      return isThere ? undefined : { elicitation: { [mode]: {} } }
    }
  }
}

/** Reads a client's answer to a question; `undefined` when it is invalid. */
export function readAnswer(question: WireQuestion, value: unknown): InputResponse | undefined {
  if (!isRecord(value)) return undefined
  switch (question.method) {
    case "roots/list":
      return Array.isArray(value["roots"])
        ? { action: "accept", content: { roots: value["roots"] } }
        : undefined
    case "sampling/createMessage":
      return typeof value["role"] === "string" && value["content"] !== undefined
        ? { action: "accept", content: value }
        : undefined
    case "elicitation/create": {
      const { action, content } = value
      if (action !== "accept" && action !== "decline" && action !== "cancel") return undefined
      if (content === undefined || content === null) return { action }
      return isRecord(content) ? { action, content } : undefined
    }
  }
}

/** A copy of a schema with JSON data only. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}

/** The error for a question that a caller's capabilities do not cover. */
export function lacking(tool: string, { method }: WireQuestion, missing: JsonObject): string {
  return `"${tool}" has to ask its caller (${method}), and the client has not declared the capability for it: ${JSON.stringify(missing)}. Use a client that has it.`
}

/** Asks over an open connection while the handler waits, for clients up to 2025-11-25. */
export function liveInput(
  tool: string,
  exchange: Exchange,
  timeout: number,
): (request: InputRequest) => Promise<InputResponse> {
  return async (request) => {
    const wire = wireQuestion(request)
    const { peer } = exchange
    const missing = missingCapabilities(wire, peer.capabilities)
    if (missing !== undefined) {
      const message =
        peer.capabilities === undefined
          ? `"${tool}" has to ask its caller (${wire.method}), which clients up to 2025-11-25 cannot answer without a session. Use a newer client, or a server without \`sessions: false\`.`
          : lacking(tool, wire, missing)
      throw capabilityRequired(missing, message)
    }
    const reaction = await peer.ask(exchange, named(wire), timeout)
    switch (reaction.is) {
      case "ended":
        throw new CallError("ABORTED", `The call of "${tool}" ended before its caller answered.`)
      case "late":
        throw new CallError(
          "TIMEOUT",
          `The client of "${tool}" did not answer ${wire.method} within ${timeout} ms. inputTimeoutMs sets the limit.`,
        )
      case "refused": {
        const { code, message } = reaction.error
        throw unavailable(
          `The client of "${tool}" could not answer ${wire.method}: ${message}`,
          code,
        )
      }
      case "answered": {
        const answer = readAnswer(wire, reaction.result)
        if (answer !== undefined) return answer
        throw unavailable(`The client of "${tool}" sent an invalid answer to ${wire.method}.`)
      }
    }
  }
}

// In that era a visit to a web page has an id, so that its completion can be announced.
function named(wire: WireQuestion): WireQuestion {
  if (wire.params?.["mode"] !== "url") return wire
  return { ...wire, params: { ...wire.params, elicitationId: crypto.randomUUID() } }
}

function unavailable(message: string, code?: number): CallError {
  return new CallError("UNAVAILABLE", message, {
    retryable: false,
    mayHaveExecuted: true,
    details: { reason: "INPUT_UNAVAILABLE", ...(code !== undefined && { code }) },
  })
}
