import { isRecord } from "../../internal/guards.ts"
import type { InputRequest, InputResponse } from "../../core/types.ts"

// Converts questions of handlers to MCP, and answers of clients from MCP.

/** An MCP request for input. */
export interface WireQuestion {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list"
  readonly params?: Readonly<Record<string, unknown>>
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
  declared: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
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
function plain(value: object): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}
