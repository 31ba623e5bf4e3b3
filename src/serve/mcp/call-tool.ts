import type { Logger } from "../../internal/logger.ts"
import { isRecord } from "../../internal/guards.ts"
import type { MCPEra } from "../../mcp/model.ts"
import type { Identity } from "../../core/types.ts"
import { InputRounds } from "./input-rounds.ts"
import { liveInput } from "./live-input.ts"
import { clientLog, isLogLevel } from "./log.ts"
import type { LogLevel } from "./log.ts"
import { ProtocolError } from "./model.ts"
import type { MCPSurface, SurfaceCall } from "./model.ts"
import { ProgressSender } from "./progress.ts"
import type { StateSeal } from "./request-state.ts"
import { ENVELOPE } from "./sdk.ts"
import type { SDKContext } from "./sdk.ts"

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

const TRACE_KEYS = ["traceparent", "tracestate", "baggage"] as const

/** Answers `tools/call`. */
export async function callTool(
  connection: Connection,
  params: Readonly<Record<string, unknown>>,
  context: SDKContext,
  identity: Identity | undefined,
): Promise<object> {
  const { name, arguments: input = {} } = params
  if (typeof name !== "string") {
    throw new ProtocolError(-32602, "tools/call needs params.name, the name of a tool.")
  }
  if (!isRecord(input)) {
    throw new ProtocolError(-32602, `tools/call: params.arguments of "${name}" must be an object.`)
  }
  const progress = progressOf(context)
  const common: Omit<SurfaceCall, "signal"> = {
    identity,
    era: connection.era,
    progress: progress?.report,
    log: logOf(connection, name, context),
    metadata: metadataOf(context),
  }
  try {
    return connection.era === "modern"
      ? await callInRounds(connection, name, input, context, common)
      : await connection.surface.call(name, input, {
          ...common,
          signal: context.mcpReq.signal,
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

async function callInRounds(
  { surface, seal }: Connection,
  name: string,
  input: unknown,
  context: SDKContext,
  common: Omit<SurfaceCall, "signal">,
): Promise<object> {
  const { signal, controller, envelope, inputResponses } = context.mcpReq
  const capabilities = envelope?.[ENVELOPE.clientCapabilities]
  const rounds = await InputRounds.open(
    seal,
    { principal: common.identity?.id ?? "", tool: name, input },
    {
      requestState: context.mcpReq.requestState(),
      inputResponses,
      capabilities: isRecord(capabilities) ? capabilities : undefined,
    },
    controller,
  )
  const leave = (): void => rounds.abort(signal.reason)
  const isLinked = controller === undefined
  if (isLinked && signal.aborted) leave()
  else if (isLinked) signal.addEventListener("abort", leave, { once: true })
  const call: SurfaceCall = { ...common, signal: rounds.signal, requestInput: rounds.ask }
  try {
    const result = surface.call(name, input, call)
    const first = await Promise.race([result, rounds.asked])
    if (!rounds.hasQuestions) return first as object
  } catch (error) {
    if (!rounds.hasQuestions) throw error
  } finally {
    if (isLinked) signal.removeEventListener("abort", leave)
  }
  return await rounds.result()
}

/** A sender of progress, if the caller sent a progress token. */
function progressOf({ mcpReq }: SDKContext): ProgressSender | undefined {
  const token = mcpReq._meta?.["progressToken"]
  if (typeof token !== "string" && typeof token !== "number") return undefined
  return new ProgressSender(({ progress, total, message }) => {
    send(mcpReq, "notifications/progress", {
      progressToken: token,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    })
  })
}

/** The logger of a handler, if its caller asked for log messages. */
function logOf(connection: Connection, tool: string, { mcpReq }: SDKContext): Logger | undefined {
  const level =
    connection.era === "modern" ? mcpReq.envelope?.[ENVELOPE.logLevel] : connection.logLevel()
  if (!isLogLevel(level)) return undefined
  return clientLog(tool, level, connection.logger, (line) =>
    send(mcpReq, "notifications/message", { ...line }),
  )
}

function send(
  request: SDKContext["mcpReq"],
  method: string,
  params: Readonly<Record<string, unknown>>,
): void {
  if (request.signal.aborted) return
  // The client may have disconnected.
  request.notify({ method, params }).catch(() => undefined)
}

function metadataOf({ mcpReq }: SDKContext): Readonly<Record<string, unknown>> | undefined {
  const meta = mcpReq._meta
  if (meta === undefined) return undefined
  const found = TRACE_KEYS.filter((key) => typeof meta[key] === "string")
  return found.length === 0
    ? undefined
    : Object.fromEntries(found.map((key) => [key, meta[key] as string]))
}
