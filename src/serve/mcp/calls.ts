import { encodeFiles } from "../../core/unread-file.ts"
import { mintRequestId } from "../../engine/ids.ts"
import { CallError } from "../../core/errors.ts"
import { systemClock } from "../../internal/clock.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { isRecord } from "../../internal/guards.ts"
import { typeName } from "../../internal/message-text.ts"
import type { CallOptions } from "../../core/types.ts"
import { errorText, failureOf } from "./tool-errors.ts"
import { ProtocolError } from "./model.ts"
import type { SurfaceCall, SurfaceResult } from "./model.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import { resultOf, structured } from "./results.ts"
import { boundedResult } from "./result-size.ts"
import { collect } from "./stream-tools.ts"
import type { StreamBounds } from "./stream-tools.ts"
import type { OperationTool } from "./tool.ts"

/**
 * Runs one operation and returns the result of its tool, called directly or through `call_operation`.
 *
 * `place` is the JSON pointer to the arguments in what the caller sent. Throws only
 * `ProtocolError`.
 */
export async function runOperation(
  registry: AnyRegistry,
  tool: OperationTool,
  args: unknown,
  call: SurfaceCall,
  options: ResolvedSurfaceOptions,
  place = "",
): Promise<SurfaceResult> {
  const requestId = mintRequestId()
  try {
    const input = argumentsOf(args, tool.id)
    if (tool.isStream) {
      const result = await callStream(registry, tool, input, { call, requestId }, options, place)
      return boundedResult(tool, result, options.maxResultBytes)
    }
    const callOptions = optionsOf(call, requestId, call.progress)
    const envelope = await registry.execute(tool.id, tool.form.toInput(input), callOptions)
    const result = await encodeFiles(() => resultOf(tool, envelope, call.era, options))
    return boundedResult(tool, result, options.maxResultBytes)
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    return failed(error, tool, { call, requestId }, options, place)
  }
}

/** A call with the request id for the operation, the log and the caller. */
interface CallIds {
  readonly call: SurfaceCall
  readonly requestId: string
}

async function callStream(
  registry: AnyRegistry,
  tool: OperationTool,
  args: Readonly<Record<string, unknown>>,
  ids: CallIds,
  options: ResolvedSurfaceOptions,
  place: string,
): Promise<SurfaceResult> {
  const { call, requestId } = ids
  let bounds: StreamBounds
  try {
    bounds = tool.stream.bounds(args, tool.id)
  } catch (error) {
    return errorText(error, place, tool, requestId)
  }
  const stream = registry.subscribe(tool.id, tool.form.toInput(args), optionsOf(call, requestId))
  // Items are sent twice, the second time with quotes escaped.
  const maxBytes = options.maxResultBytes / 4
  const collected = await collect(stream, bounds, maxBytes, call.progress, systemClock)
  const text = `{"items":[${collected.items.join(",")}],"isComplete":${collected.isComplete}}`
  const content = [{ type: "text", text }]
  if (collected.error === undefined) {
    const output = tool.output(call.era)
    return structured(tool, JSON.parse(text), content, false, output?.schema)
  }
  const failure = failed(collected.error, tool, ids, options, place)
  // The items before the failure may be all that was wanted.
  if (collected.items.length === 0) return failure
  return { ...failure, content: [...failure.content, ...content] }
}

function failed(
  error: unknown,
  tool: OperationTool,
  { call: { identity }, requestId }: CallIds,
  options: ResolvedSurfaceOptions,
  place: string,
): SurfaceResult {
  const call = { requestId, identity, parentRequestId: undefined }
  return failureOf(error, tool, place + tool.form.pointer, call, options.failures)
}

/** Validates arguments; missing ones become the empty object. Throws `VALIDATION_ERROR`. */
export function argumentsOf(args: unknown, id: string): Readonly<Record<string, unknown>> {
  if (args === undefined || args === null) return {}
  if (isRecord(args)) return args
  throw new CallError(
    "VALIDATION_ERROR",
    `Input for "${id}" is invalid: arguments must be an object, got ${typeName(args)}.`,
  )
}

function optionsOf(
  { signal, identity, requestInput, log, metadata }: SurfaceCall,
  requestId: string,
  progress?: SurfaceCall["progress"],
): CallOptions {
  return { signal, requestId, identity, requestInput, log, metadata, progress }
}
