import { mintRequestId } from "../../engine/ids.ts"
import { CallError } from "../../core/errors.ts"
import { systemClock } from "../../internal/clock.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { isPlainRecord } from "../../schema/json.ts"
import { typeName } from "../../internal/describe.ts"
import type { CallOptions } from "../../core/types.ts"
import { errorText, failureOf } from "./faults.ts"
import { ProtocolFault } from "./model.ts"
import type { SurfaceCall, SurfaceResult } from "./model.ts"
import type { SettledOptions } from "./options.ts"
import { resultOf, structured } from "./results.ts"
import { boundedResult } from "./size.ts"
import { collect } from "./stream-tools.ts"
import type { StreamBounds } from "./stream-tools.ts"
import type { OperationTool } from "./tool.ts"

/**
 * Runs one operation and gives what its tool answers: whichever way it was called, the same.
 *
 * `place` is where the arguments are in what the caller wrote, as a JSON pointer. Throws only
 * `ProtocolFault`.
 */
export async function callTool(
  registry: AnyRegistry,
  tool: OperationTool,
  given: unknown,
  call: SurfaceCall,
  options: SettledOptions,
  place = "",
): Promise<SurfaceResult> {
  const about: CallIds = { ...call, requestId: mintRequestId() }
  try {
    const input = argumentsOf(given, tool.id)
    const result = tool.isStream
      ? await callStream(registry, tool, input, about, options, place)
      : await callOnce(registry, tool, input, about, options)
    return boundedResult(tool, result, options.maxResultBytes)
  } catch (error) {
    if (error instanceof ProtocolFault) throw error
    return failed(error, tool, about, options, place)
  }
}

/** A call with the id that its operation, the log and its caller have for it. */
interface CallIds extends SurfaceCall {
  readonly requestId: string
}

async function callOnce(
  registry: AnyRegistry,
  tool: OperationTool,
  given: Readonly<Record<string, unknown>>,
  call: CallIds,
  options: SettledOptions,
): Promise<SurfaceResult> {
  const input = tool.form.take(given)
  const envelope = await registry.execute(tool.id, input, {
    ...callOptions(call),
    ...(call.progress !== undefined && { progress: call.progress }),
  })
  return await resultOf(tool, envelope, call.era, options)
}

async function callStream(
  registry: AnyRegistry,
  tool: OperationTool,
  given: Readonly<Record<string, unknown>>,
  call: CallIds,
  options: SettledOptions,
  place: string,
): Promise<SurfaceResult> {
  let bounds: StreamBounds
  try {
    bounds = tool.stream.bounds(given, tool.id)
  } catch (error) {
    return errorText(error, place, tool, call.requestId)
  }
  const stream = registry.subscribe(tool.id, tool.form.take(given), callOptions(call))
  // Items are sent twice, the second time with quotes escaped.
  const most = options.maxResultBytes / 4
  const found = await collect(stream, bounds, most, call.progress, systemClock)
  const text = `{"items":[${found.items.join(",")}],"isComplete":${found.isComplete}}`
  const content = [{ type: "text", text }]
  if (found.error === undefined) {
    const output = tool.output(call.era)
    return structured(tool, JSON.parse(text), content, false, output?.schema)
  }
  const failure = failed(found.error, tool, call, options, place)
  // What came before the stream broke may be all that was wanted.
  if (found.items.length === 0) return failure
  return { ...failure, content: [...failure.content, ...content] }
}

function failed(
  error: unknown,
  tool: OperationTool,
  { requestId, identity }: CallIds,
  options: SettledOptions,
  place: string,
): SurfaceResult {
  const call = { requestId, identity, parentRequestId: undefined }
  return failureOf(error, tool, place + tool.form.pointer, call, options.failures)
}

/** What was given as arguments; none are the empty object. Throws `VALIDATION_ERROR`. */
export function argumentsOf(given: unknown, id: string): Readonly<Record<string, unknown>> {
  if (given === undefined || given === null) return {}
  if (isPlainRecord(given)) return given
  throw new CallError(
    "VALIDATION_ERROR",
    `Input for "${id}" is invalid: arguments must be an object, got ${typeName(given)}.`,
  )
}

function callOptions(call: CallIds): CallOptions {
  return {
    signal: call.signal,
    requestId: call.requestId,
    ...(call.identity !== undefined && { identity: call.identity }),
    ...(call.requestInput !== undefined && { requestInput: call.requestInput }),
    ...(call.log !== undefined && { log: call.log }),
    ...(call.metadata !== undefined && { metadata: call.metadata }),
  }
}
