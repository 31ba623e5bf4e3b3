import { encodeResult } from "../core/unread-file.ts"
import { mintRequestId } from "../engine/ids.ts"
import { CallError } from "../core/errors.ts"
import { selectionOf } from "../core/selection.ts"
import { systemClock } from "../internal/clock.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { isRecord } from "../internal/guards.ts"
import { weigh } from "../internal/weigh.ts"
import { getOwn } from "../schema/json.ts"
import { typeName } from "../internal/message-text.ts"
import type { CallOptions, CallWay } from "../core/types.ts"
import { errorText, failureOf } from "./tool-errors.ts"
import { ProtocolError, type SurfaceCall, type SurfaceResult } from "./model.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import { fitResult } from "./fit-result.ts"
import { dryResult, resultOf, selectedItems, structured } from "./results.ts"
import type { Selection } from "../schema/read/select.ts"
import { SELECT } from "./select-form.ts"
import { collect, type StreamBounds } from "./tool-forms.ts"
import type { OperationTool } from "./tool.ts"

/** How an operation is called: as a tool of its own, or through `call_operation`. */
export interface CallForm {
  /** JSON pointer to the arguments in what the caller sent. */
  readonly place: string
  /** Paths of the members that the caller wants, if it is not in the arguments. */
  readonly select?: unknown
  /** The result is that of `call_operation`, which has no output schema. */
  readonly isSearched: boolean
}

const OWN_TOOL: CallForm = { place: "", isSearched: false }

/** Runs one operation and returns the result of its tool. Throws only `ProtocolError`. */
export async function runOperation(
  registry: AnyRegistry,
  tool: OperationTool,
  args: unknown,
  call: SurfaceCall,
  options: ResolvedSurfaceOptions,
  called: CallForm = OWN_TOOL,
): Promise<SurfaceResult> {
  const requestId = mintRequestId()
  const { place, isSearched } = called
  try {
    const read = argumentsOf(args, tool.id)
    const input = isSearched ? read : tool.restore(read)
    const selecting = isSearched ? undefined : tool.selecting
    const select = selecting === undefined ? called.select : getOwn(input, SELECT)
    let selection: Selection | undefined
    try {
      selection = selectionOf(tool.id, tool.raw?.outputSchema ?? tool.spec.outputSchema, select)
    } catch (error) {
      // It is beside the input, wherever that is.
      return errorText(error, "", tool, requestId)
    }
    if (call.dryRun === true) {
      const callOptions = await optionsOf(call, tool.id, requestId, options.via)
      const operationInput = (selecting ?? tool.form).toInput(input)
      return dryResult(await registry.execute(tool.id, operationInput, callOptions))
    }
    if (tool.isStream) {
      const result = await callStream(registry, tool, input, { call, requestId }, options, place)
      return bounded(tool, selectedItems(result, selection), call, options, isSearched)
    }
    const callOptions = await optionsOf(call, tool.id, requestId, options.via, call.progress)
    const operationInput = (selecting ?? tool.form).toInput(input)
    const envelope = await registry.execute(tool.id, operationInput, callOptions)
    const result = await encodeResult(() => resultOf(tool, envelope, call.era, options, selection))
    return bounded(tool, result, call, options, isSearched)
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
  const callOptions = await optionsOf(call, tool.id, requestId, options.via)
  const stream = registry.subscribe(tool.id, tool.form.toInput(args), callOptions)
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

/** The options with which an operation is called. */
export function optionsOf(
  call: SurfaceCall,
  operationId: string,
  requestId: string,
  via: CallWay,
  progress?: SurfaceCall["progress"],
): CallOptions | Promise<CallOptions> {
  const { signal, identity, requestInput, log, metadata, timeout, valuesFor } = call
  const { entry, client, dryRun } = call
  // One literal: copying so many members costs more than all else here.
  const options = {
    signal,
    requestId,
    identity,
    requestInput,
    log,
    metadata,
    timeout,
    progress,
    entry,
    client,
    via,
    dryRun,
  }
  if (valuesFor === undefined) return options
  return Promise.resolve(valuesFor(operationId)).then((values) => ({
    ...options,
    metadata: { ...metadata, ...values },
  }))
}

/** Usual names of inputs that make results smaller. */
const NARROWING =
  /^_?(?:limit|max(?:_?results|_?items)?|count|first|top|take|page(?:_?size)?|per_?page|offset|cursor|after|before|since|until|from|to|start|end|range|fields|select|filter|query|q|search|head|tail|lines)$/i

/** Returns what fits of the result, or an error in place of one that is too large for most clients. */
function bounded(
  tool: OperationTool,
  result: SurfaceResult,
  call: SurfaceCall,
  options: ResolvedSurfaceOptions,
  isSearched: boolean,
): SurfaceResult {
  const most = options.maxResultBytes
  // Tools of imported servers are passed on as they are, unless a limit is set.
  const isPassedOn = tool.raw !== undefined && !isSearched && !options.isLimitSet
  const isWhole = call.isWhole === true || isPassedOn
  const fitted = isWhole ? result : fitResult(tool, result, call, options, isSearched)
  const bytes = sizeOf(fitted, most)
  return bytes <= most ? fitted : tooLarge(tool, bytes, most)
}

/** The error for a result that is too large, with inputs that would make it smaller. */
function tooLarge(tool: OperationTool, bytes: number, most: number): SurfaceResult {
  const { properties } = tool.form.schema
  const names = isRecord(properties) ? Object.keys(properties) : []
  const useful = names.filter((name) => NARROWING.test(name)).map((name) => `"${name}"`)
  const cure =
    useful.length > 0
      ? `Ask for less with ${useful.join(", ")}.`
      : "Ask for less, or for parts of it."
  const effect = tool.spec.type === "mutation" ? " The operation ran." : ""
  const text = `PAYLOAD_TOO_LARGE: The result of "${tool.id}" has ${inMegabytes(bytes)}, more than the ${inMegabytes(most)} that are sent.${effect} ${cure}`
  return { content: [{ type: "text", text }], isError: true }
}

/** Bytes of a result as JSON; exact only near the limit. */
function sizeOf(result: SurfaceResult, most: number): number {
  // A character takes at most six bytes, and what is around it less than another one.
  const isSmall = weigh(result, most / 7) < most / 7
  if (isSmall) return 0
  return new TextEncoder().encode(JSON.stringify(result)).length
}

function inMegabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / (1024 * 1024)).toFixed(1)} MB`
}
