import type { Logger } from "../../internal/logger.ts"
import { isRecord } from "../../internal/guards.ts"
import { addSignalListener, CancelToken, removeSignalListener } from "../../internal/signals.ts"
import { isLogLevel, traceOf, type LogLevel, type MCPEra } from "../../mcp/model.ts"
import type { Identity } from "../../core/types.ts"
import { InputRounds, type RoundCall } from "./input-rounds.ts"
import { liveInput } from "./questions.ts"
import { logOf, progressOf } from "./reports.ts"
import { ProtocolError, type SurfaceCall } from "./model.ts"
import type { MCPSurface } from "./surface.ts"
import type { StateSeal } from "./request-state.ts"
import { ENVELOPE, type SDKContext } from "./sdk.ts"

/** State that all calls of a connection share. */
export interface Connection {
  readonly surface: MCPSurface
  readonly era: MCPEra
  readonly seal: StateSeal
  readonly inputTimeoutMs: number
  readonly logger: Logger
  /** Log level and capabilities of the client of a legacy connection. */
  readonly logLevel: () => LogLevel | undefined
  readonly capabilities: () => Readonly<Record<string, unknown>> | undefined
}

/** Answers `tools/call`. */
export async function callTool(
  connection: Connection,
  params: Readonly<Record<string, unknown>>,
  context: SDKContext,
  identity: Identity | undefined,
  signal: AbortSignal,
): Promise<object> {
  const { surface, era, seal, logger, inputTimeoutMs } = connection
  const { mcpReq } = context
  const isModern = era === "modern"
  const { name, arguments: input = {} } = params
  if (typeof name !== "string") {
    throw new ProtocolError(-32602, "tools/call needs params.name, the name of a tool.")
  }
  if (!isRecord(input)) {
    throw new ProtocolError(-32602, `tools/call: params.arguments of "${name}" must be an object.`)
  }
  const progress = progressOf(context)
  const level = isModern ? mcpReq.envelope?.[ENVELOPE.logLevel] : connection.logLevel()
  const common: Omit<SurfaceCall, "signal"> = {
    identity,
    era,
    progress: progress?.report,
    log: isLogLevel(level) ? logOf(name, level, logger, context) : undefined,
    metadata: traceOf(mcpReq._meta),
  }
  try {
    if (isModern) {
      const { inputResponses, envelope } = mcpReq
      const requestState = mcpReq.requestState()
      const asked = { name, input, signal, requestState, inputResponses, envelope }
      return await callInRounds(surface, seal, asked, common)
    }
    const requestInput = liveInput(name, context, connection.capabilities(), inputTimeoutMs)
    return await surface.call(name, input, { ...common, signal, requestInput })
  } finally {
    progress?.flush()
  }
}

/** Runs a modern call; the questions of its handler are its result. */
export async function callInRounds(
  surface: MCPSurface,
  seal: StateSeal,
  asked: RoundCall,
  common: Omit<SurfaceCall, "signal">,
): Promise<object> {
  const { name, input, signal } = asked
  const token = new CancelToken()
  let onAsked = (): void => {}
  // Most handlers have no questions.
  let rounds: InputRounds | undefined
  const openRounds = (): InputRounds =>
    (rounds ??= new InputRounds(seal, asked, common.identity?.id ?? "", token, () => onAsked()))
  if (asked.requestState !== undefined) await openRounds().restore()
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
