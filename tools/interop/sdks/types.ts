// What the formats return is what the SDKs declare: this file is compiled, and never runs.

import type Anthropic from "@anthropic-ai/sdk"
import { jsonSchema, streamText, ToolLoopAgent, type LanguageModel } from "ai"
import type OpenAI from "openai"
import { toAISDK, toAnthropic, toOpenAIResponses, type Tools } from "@alkdev/operations/tools"

export async function withOpenAI(client: OpenAI, given: Tools, signal: AbortSignal): Promise<void> {
  const { tools, run } = toOpenAIResponses(given)
  const common = { model: "m", tools }
  const first = await client.responses.create({ ...common, input: "Hello" }, { signal })
  const stream = client.responses.stream(
    { ...common, previous_response_id: first.id, input: await run(first, { signal }) },
    { signal },
  )
  await run(await stream.finalResponse(), { signal })
}

export async function withAnthropic(
  client: Anthropic,
  given: Tools,
  signal: AbortSignal,
): Promise<void> {
  const { tools, run } = toAnthropic(given)
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Hello" }]
  const common = { model: "m", max_tokens: 100, tools }
  const message = await client.messages.create({ ...common, messages }, { signal })
  messages.push({ role: "assistant", content: message.content })
  messages.push({ role: "user", content: await run(message, { signal }) })
  const stream = client.messages.stream({ ...common, messages }, { signal })
  messages.push({ role: "user", content: await run(await stream.finalMessage(), { signal }) })
}

export async function withAISDK(
  model: LanguageModel,
  given: Tools,
  abortSignal: AbortSignal,
): Promise<string> {
  const tools = toAISDK(given, { jsonSchema })
  const agent = new ToolLoopAgent({ model, tools })
  await agent.generate({ prompt: "Hello", abortSignal })
  return await streamText({ model, tools, prompt: "Hello", abortSignal }).text
}
