import { isRecord } from "../internal/guards.ts"
import type { ToolOutcome, ToolPart } from "./outcome.ts"
import type { ToolCallOptions, Tools } from "./to-tools.ts"

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: "object"; [keyword: string]: unknown }
}

/** The answer to a use of a tool, a block of the next message of the user. */
export interface AnthropicAnswer {
  type: "tool_result"
  tool_use_id: string
  is_error: boolean
  content: AnthropicPart[]
}

/** A part of an answer. */
export type AnthropicPart =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicImage; data: string } }
  | {
      type: "document"
      source: { type: "base64"; media_type: "application/pdf"; data: string }
    }

const IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const

/** Images that the API accepts. */
export type AnthropicImage = (typeof IMAGES)[number]

/** Tools for Anthropic's Messages API. */
export interface AnthropicTools {
  readonly tools: AnthropicTool[]
  /** Runs all uses of tools in a message at once, and answers them in their order; none: an empty list. */
  readonly run: (
    message: { readonly content: readonly object[] },
    options?: Pick<ToolCallOptions, "signal">,
  ) => Promise<AnthropicAnswer[]>
}

/**
 * Tools for `anthropic.messages.create({ tools })`.
 *
 * None is marked as strict: the API refuses a request with more than 20 strict tools, or 16 optional inputs in them.
 */
export function toAnthropic(tools: Tools): AnthropicTools {
  return {
    tools: tools.definitions.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: { ...parameters, type: "object" },
    })),
    async run({ content }, options = {}) {
      const uses = content.filter(
        (block): block is { id: string; name: string; input: unknown } =>
          isRecord(block) && block["type"] === "tool_use",
      )
      return await Promise.all(
        uses.map(async ({ id, name, input }): Promise<AnthropicAnswer> => {
          const outcome = await tools.call(name, input, { ...options, callId: id })
          return answerOf(id, outcome)
        }),
      )
    },
  }
}

function answerOf(id: string, { isError, parts }: ToolOutcome): AnthropicAnswer {
  return { type: "tool_result", tool_use_id: id, is_error: isError, content: parts.map(partOf) }
}

function partOf(part: ToolPart): AnthropicPart {
  if (part.type === "text") return { type: "text", text: part.text }
  const { data, mimeType } = part
  const image = IMAGES.find((one) => one === mimeType)
  if (image !== undefined) {
    return { type: "image", source: { type: "base64", media_type: image, data } }
  }
  if (mimeType === "application/pdf") {
    return { type: "document", source: { type: "base64", media_type: mimeType, data } }
  }
  const padding = data.endsWith("==") ? 2 : Number(data.endsWith("="))
  const bytes = Math.floor(((data.length - padding) * 3) / 4)
  return { type: "text", text: `[${part.type} of type ${mimeType}, ${bytes} bytes, not shown]` }
}
