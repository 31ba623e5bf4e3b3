import type { Logger } from "../../internal/logger.ts"
import { isRecord } from "../../internal/guards.ts"
import { addSignalListener, CancelToken, removeSignalListener } from "../../internal/signals.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { readTrace, traceIn } from "../../core/tracing.ts"
import { ENVELOPE, isLogLevel, WHOLE_RESULT, type JsonObject } from "../../mcp/model.ts"
import { InputRounds } from "./input-rounds.ts"
import { liveInput } from "./questions.ts"
import { logOf, progressOf } from "./reports.ts"
import { ProtocolError, type SurfaceCall } from "../../tools/model.ts"
import type { Exchange } from "./peer.ts"
import type { ToolSurface } from "../../tools/surface.ts"
import type { StateSeal } from "./request-state.ts"

/** What all calls have in common. */
export interface CallParts {
  readonly surface: ToolSurface
  readonly seal: StateSeal
  readonly inputTimeoutMs: number
  readonly logger: Logger
}

/** Answers `tools/call`. */
export function callTool(parts: CallParts, exchange: Exchange): Promise<object> {
  const { era, peer, request, caller, token, incoming } = exchange
  const { name, arguments: input = {}, _meta } = request.params ?? {}
  const meta = _meta as JsonObject | undefined
  if (typeof name !== "string") {
    throw new ProtocolError(INVALID_PARAMS, "tools/call needs params.name, the name of a tool.")
  }
  if (!isRecord(input)) {
    const message = `tools/call: params.arguments of "${name}" must be an object.`
    throw new ProtocolError(INVALID_PARAMS, message)
  }
  const progress = progressOf(meta, exchange)
  const level = era === "modern" ? meta?.[ENVELOPE.logLevel] : peer.logLevel
  const common: Omit<SurfaceCall, "signal"> = {
    identity: caller.identity,
    era,
    progress: progress?.report,
    log: isLogLevel(level) ? logOf(name, level, parts.logger, exchange) : undefined,
    metadata: (traceIn(meta) ??
      (incoming && readTrace((header) => incoming.header(header)))) as SurfaceCall["metadata"],
    entry: {
      kind: "mcp",
      isPublic: incoming !== undefined,
      name: `tools/call ${name}`,
      attributes: {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "jsonrpc.request.id": String(request.id),
        "network.transport": incoming === undefined ? "pipe" : "tcp",
      },
    },
    isWhole: meta?.[WHOLE_RESULT] === true,
    valuesFor: exchange.valuesFor,
  }
  const requestInput = liveInput(name, exchange, parts.inputTimeoutMs)
  const call =
    era === "modern"
      ? callInRounds(parts, exchange, name, input, common)
      : parts.surface.call(name, input, { ...common, signal: token.signal, requestInput })
  return progress === undefined ? call : call.finally(() => progress.end())
}

/** Runs a modern call; the questions of its handler are its result. */
async function callInRounds(
  { surface, seal }: CallParts,
  { request: { params = {} }, caller, token: outer }: Exchange,
  name: string,
  input: JsonObject,
  common: Omit<SurfaceCall, "signal">,
): Promise<object> {
  const { signal } = outer
  const token = new CancelToken()
  const binding = { principal: caller.identity?.id ?? "", tool: name, input }
  let onAsked = (): void => {}
  // Most handlers have no questions.
  let rounds: InputRounds | undefined
  const openRounds = (): InputRounds =>
    (rounds ??= new InputRounds(seal, binding, params, token, () => onAsked()))
  if (params["requestState"] !== undefined) await openRounds().restore()
  const listener = {
    handleEvent(): void {
      if (rounds === undefined) token.cancel(signal.reason)
      else rounds.abort(signal.reason)
    },
  }
  if (signal.aborted) listener.handleEvent()
  else addSignalListener(signal, listener)
  const requestInput: SurfaceCall["requestInput"] = (request) => openRounds().ask(request)
  try {
    const first = await new Promise<object | undefined>((resolve, reject) => {
      onAsked = () => resolve(undefined)
      const call = { ...common, signal: token.signal, requestInput }
      surface.call(name, input, call).then(resolve, reject)
    })
    if (first !== undefined && rounds?.hasQuestions !== true) return first
  } catch (error) {
    if (rounds?.hasQuestions !== true) throw error
  } finally {
    removeSignalListener(signal, listener)
  }
  return await openRounds().result()
}
