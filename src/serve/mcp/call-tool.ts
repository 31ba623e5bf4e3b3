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
  const { name, arguments: input = {} } = params
  if (typeof name !== "string") {
    throw new ProtocolError(-32602, "tools/call needs params.name, the name of a tool.")
  }
  if (!isRecord(input)) {
    throw new ProtocolError(-32602, `tools/call: params.arguments of "${name}" must be an object.`)
  }
  const progress = progressOf(context)
  const level =
    connection.era === "modern"
      ? context.mcpReq.envelope?.[ENVELOPE.logLevel]
      : connection.logLevel()
  const common: Omit<SurfaceCall, "signal"> = {
    identity,
    era: connection.era,
    progress: progress?.report,
    log: isLogLevel(level) ? logOf(name, level, connection.logger, context) : undefined,
    metadata: traceOf(context.mcpReq._meta),
  }
  try {
    return connection.era === "modern"
      ? await callInRounds(
          connection.surface,
          connection.seal,
          {
            name,
            input,
            signal,
            requestState: context.mcpReq.requestState(),
            inputResponses: context.mcpReq.inputResponses,
            envelope: context.mcpReq.envelope,
          },
          common,
        )
      : await connection.surface.call(name, input, {
          ...common,
          signal,
          requestInput: liveInput({
            tool: name,
            context,
            capabilities: connection.capabilities(),
            timeoutMs: connection.inputTimeoutMs,
          }),
        })
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
