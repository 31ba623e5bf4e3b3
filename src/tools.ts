// The entry `@alkdev/operations/tools`: operations as tools for the SDKs of models.

export { toTools } from "./tools/to-tools.ts"
export type {
  ToolCallInfo,
  ToolCallOptions,
  ToolDefinition,
  Tools,
  ToolsContext,
  ToolsOptions,
} from "./tools/to-tools.ts"
export type { ToolOutcome, ToolPart } from "./tools/outcome.ts"
export { toAISDK } from "./tools/ai-sdk.ts"
export type { AISDKCall, AISDKLike, AISDKOutput, AISDKPart, AISDKTool } from "./tools/ai-sdk.ts"
export { toAnthropic } from "./tools/anthropic.ts"
export type {
  AnthropicAnswer,
  AnthropicImage,
  AnthropicPart,
  AnthropicTool,
  AnthropicTools,
} from "./tools/anthropic.ts"
export { toOpenAIResponses } from "./tools/openai.ts"
export type { OpenAIAnswer, OpenAIPart, OpenAITool, OpenAITools } from "./tools/openai.ts"
