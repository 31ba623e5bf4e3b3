import { isRecord } from "../internal/guards.ts"
import { cutText } from "../internal/message-text.ts"
import { textOf, type ToolOutcome, type ToolPart } from "./outcome.ts"
import type { ToolCallOptions, Tools } from "./to-tools.ts"

/** A function tool of OpenAI's Responses API. */
export interface OpenAITool {
  type: "function"
  name: string
  description: string
  parameters: Record<string, unknown>
  /** Always written: left out, the API assumes true. */
  strict: boolean
}

/** The answer to a call of a function, an input item of the next request. */
export interface OpenAIAnswer {
  type: "function_call_output"
  call_id: string
  output: string | OpenAIPart[]
}

/** A part of an answer. */
export type OpenAIPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; filename: string; file_data: string }

/** Tools for OpenAI's Responses API. */
export interface OpenAITools {
  readonly tools: OpenAITool[]
  /** Runs all function calls of a response at once, and answers them in their order; none: an empty list. */
  readonly run: (
    response: { readonly output: readonly object[] },
    options?: Pick<ToolCallOptions, "signal">,
  ) => Promise<OpenAIAnswer[]>
}

/** The API refuses longer descriptions. */
const MAX_DESCRIPTION = 1024

/** Tools for `openai.responses.create({ tools })`. */
export function toOpenAIResponses(tools: Tools): OpenAITools {
  return {
    tools: tools.definitions.map(({ name, description, parameters, strict }) => ({
      type: "function",
      name,
      description: cutText(description, MAX_DESCRIPTION - 1),
      parameters: { ...parameters },
      strict,
    })),
    async run({ output }, options = {}) {
      const calls = output.filter(
        (item): item is { call_id: string; name: string; arguments: unknown } =>
          isRecord(item) && item["type"] === "function_call",
      )
      return await Promise.all(
        calls.map(async ({ call_id, name, arguments: args }): Promise<OpenAIAnswer> => {
          const outcome = await tools.call(name, args, { ...options, callId: call_id })
          return { type: "function_call_output", call_id, output: outputOf(outcome) }
        }),
      )
    },
  }
}

function outputOf(outcome: ToolOutcome): string | OpenAIPart[] {
  const isText = outcome.parts.every(({ type }) => type === "text")
  return isText ? textOf(outcome) : outcome.parts.map(partOf)
}

function partOf(part: ToolPart): OpenAIPart {
  if (part.type === "text") return { type: "input_text", text: part.text }
  const url = `data:${part.mimeType};base64,${part.data}`
  if (part.type === "image") return { type: "input_image", image_url: url, detail: "auto" }
  return { type: "input_file", filename: part.name ?? part.type, file_data: url }
}
