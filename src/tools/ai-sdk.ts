import type { ProgressUpdate } from "../core/types.ts"
import { JoinedSignals } from "../internal/signals.ts"
import type { JsonSchema } from "../schema/json.ts"
import { textOf, type ToolOutcome, type ToolPart } from "./outcome.ts"
import type { Tools } from "./to-tools.ts"

/** What `toAISDK` needs of the package `ai`. */
export interface AISDKLike<TSchema> {
  jsonSchema(schema: JsonSchema): TSchema
}

/** A tool for `generateText`, `streamText` and agents of the AI SDK, versions 6 and 7. */
export interface AISDKTool<TSchema> {
  readonly title?: string
  readonly description: string
  readonly inputSchema: TSchema
  readonly strict?: boolean
  /** Progress comes as preliminary results. */
  readonly execute: (input: unknown, options: AISDKCall) => AsyncGenerator<ToolOutcome, void>
  readonly toModelOutput: (given: { readonly output: ToolOutcome }) => AISDKOutput
}

/** A call of the AI SDK. */
export interface AISDKCall {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal | undefined
}

/** What a model receives of a call. */
export type AISDKOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "content"; value: AISDKPart[] }

/** A part of it. */
export type AISDKPart =
  | { type: "text"; text: string }
  | { type: "image-data"; data: string; mediaType: string }
  | { type: "file-data"; data: string; mediaType: string; filename?: string }

/** Tools for the AI SDK, by name: `generateText({ tools: toAISDK(tools, { jsonSchema }) })`. */
export function toAISDK<TSchema>(
  tools: Tools,
  sdk: AISDKLike<TSchema>,
): Record<string, AISDKTool<TSchema>> {
  const entries = tools.definitions.map(
    ({ name, title, description, parameters, strict }): [string, AISDKTool<TSchema>] => [
      name,
      {
        ...(title !== undefined && { title }),
        description,
        inputSchema: sdk.jsonSchema(parameters),
        ...(strict && { strict }),
        execute: (input, call) => outcomes(tools, name, input, call),
        toModelOutput: ({ output }) => modelOutput(output),
      },
    ],
  )
  return Object.fromEntries(entries)
}

/** The progress of a call, then its outcome. The call ends when nobody reads on. */
function outcomes(
  tools: Tools,
  name: string,
  input: unknown,
  { toolCallId, abortSignal }: AISDKCall,
): AsyncGenerator<ToolOutcome, void> {
  const stop = new AbortController()
  const steps = progressThenOutcome((progress) => {
    const joined = new JoinedSignals(stop.signal, abortSignal ?? stop.signal)
    const { signal } = joined
    const call = tools.call(name, input, { callId: toolCallId, signal, progress })
    return call.finally(() => joined.release())
  })
  const end = steps.return.bind(steps)
  // A generator that waits would end only after its next step.
  steps.return = (value) => {
    stop.abort()
    return end(value)
  }
  return steps
}

async function* progressThenOutcome(
  run: (progress: (update: ProgressUpdate) => void) => Promise<ToolOutcome>,
): AsyncGenerator<ToolOutcome, void> {
  let latest: ProgressUpdate | undefined
  let wake = (): void => {}
  const call = run((update) => {
    latest = update
    wake()
  })
  const ended = call.then(
    () => true,
    () => true,
  )
  for (;;) {
    const next = new Promise<false>((resolve) => {
      wake = () => resolve(false)
    })
    if (latest === undefined && (await Promise.race([ended, next]))) break
    if (latest !== undefined) yield progressOutcome(latest)
    latest = undefined
  }
  yield await call
}

function progressOutcome({ progress, total, message }: ProgressUpdate): ToolOutcome {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`
  const text = message === undefined ? count : `${message} (${count})`
  return { isError: false, parts: [{ type: "text", text }], data: { progress, total, message } }
}

function modelOutput(outcome: ToolOutcome): AISDKOutput {
  const { isError, parts } = outcome
  if (isError) return { type: "error-text", value: textOf(outcome) }
  if (parts.every(({ type }) => type === "text")) return { type: "text", value: textOf(outcome) }
  return { type: "content", value: parts.map(partOf) }
}

function partOf(part: ToolPart): AISDKPart {
  if (part.type === "text") return { type: "text", text: part.text }
  const { type, data, mimeType: mediaType, name } = part
  if (type === "image") return { type: "image-data", data, mediaType }
  return { type: "file-data", data, mediaType, ...(name !== undefined && { filename: name }) }
}
