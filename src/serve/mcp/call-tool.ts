import type { Logger } from "../../internal/logger.ts"
import { isRecord } from "../../internal/guards.ts"
import { addSignalListener, CancelToken, removeSignalListener } from "../../internal/signals.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { readTrace, traceIn } from "../../core/tracing.ts"
import { ENVELOPE, isLogLevel, DRY_RUN, WHOLE_RESULT, type JsonObject } from "../../mcp/model.ts"
import { readCompletion } from "./completion.ts"
import type { Extras } from "./extras.ts"
import { InputRounds } from "./input-rounds.ts"
import { liveInput } from "./questions.ts"
import { logOf, progressOf, upstreamLog } from "./reports.ts"
import { ProtocolError, type SurfaceCall } from "../../tools/model.ts"
import type { Exchange } from "./peer.ts"
import type { ToolSurface } from "../../tools/surface.ts"
import type { StateSeal } from "./request-state.ts"

/** What all calls have in common. */
export interface CallParts {
  readonly surface: ToolSurface
  readonly extras: Extras
  readonly seal: StateSeal
  readonly inputTimeoutMs: number
  readonly logger: Logger
}

/** Answers `tools/call`. */
export function callTool(parts: CallParts, exchange: Exchange): Promise<object> {
  const { name, arguments: input = {} } = exchange.request.params ?? {}
  if (typeof name !== "string") {
    throw new ProtocolError(INVALID_PARAMS, "tools/call needs params.name, the name of a tool.")
  }
  if (!isRecord(input)) {
    const message = `tools/call: params.arguments of "${name}" must be an object.`
    throw new ProtocolError(INVALID_PARAMS, message)
  }
  const run: Run = (call) => parts.surface.call(name, input, call)
  return runCall(parts, exchange, name, input, run)
}

/** Answers `resources/read`. */
export function readResource(parts: CallParts, exchange: Exchange): Promise<object> {
  const uri = exchange.request.params?.["uri"]
  if (typeof uri !== "string") {
    throw new ProtocolError(INVALID_PARAMS, "resources/read needs params.uri.")
  }
  return runCall(parts, exchange, `resources/read ${uri}`, {}, (call) =>
    parts.extras.read(uri, call),
  )
}

/** Answers `prompts/get`. */
export function getPrompt(parts: CallParts, exchange: Exchange): Promise<object> {
  const { name, arguments: input = {} } = exchange.request.params ?? {}
  const isValid = isRecord(input) && Object.values(input).every((one) => typeof one === "string")
  if (typeof name !== "string" || !isValid) {
    const message = "prompts/get needs params.name, and texts in params.arguments."
    throw new ProtocolError(INVALID_PARAMS, message)
  }
  const run: Run = (call) => parts.extras.prompt(name, input, call)
  return runCall(parts, exchange, `prompts/get ${name}`, input, run)
}

/** Answers `completion/complete`. */
export function complete(parts: CallParts, exchange: Exchange): Promise<object> {
  const { era, caller, request, token, valuesFor } = exchange
  const wanted = readCompletion(request.params)
  const metadata = traceIn(
    request.params?.["_meta"] as JsonObject | undefined,
  ) as SurfaceCall["metadata"]
  const { identity } = caller
  return parts.extras.complete(wanted, { identity, era, metadata, valuesFor, signal: token.signal })
}

type Run = (call: SurfaceCall) => Promise<object>

/** Runs an operation for a request, whose subject is named in questions and in the log. */
function runCall(
  parts: CallParts,
  exchange: Exchange,
  subject: string,
  input: JsonObject,
  run: Run,
): Promise<object> {
  const { era, peer, request, caller, token, incoming } = exchange
  const { method } = request
  const isTool = method === "tools/call"
  const meta = request.params?.["_meta"] as JsonObject | undefined
  const progress = progressOf(meta, exchange)
  const isModern = era === "modern"
  const level = isModern ? meta?.[ENVELOPE.logLevel] : peer.logLevel
  const capabilities = isModern ? meta?.[ENVELOPE.clientCapabilities] : peer.capabilities
  const common: Omit<SurfaceCall, "signal"> = {
    identity: caller.identity,
    era,
    progress: progress?.report,
    log: isLogLevel(level) ? logOf(subject, level, parts.logger, exchange) : undefined,
    client: {
      capabilities: isRecord(capabilities) ? capabilities : {},
      log: isLogLevel(level) ? upstreamLog(level, exchange) : undefined,
    },
    metadata: (traceIn(meta) ??
      (incoming && readTrace((header) => incoming.header(header)))) as SurfaceCall["metadata"],
    entry: {
      isPublic: incoming !== undefined,
      // An address may have data of the caller.
      name: isTool ? `${method} ${subject}` : method === "resources/read" ? method : subject,
      attributes: {
        "mcp.method.name": method,
        ...(isTool && { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": subject }),
        "jsonrpc.request.id": String(request.id),
        "network.transport": incoming === undefined ? "pipe" : "tcp",
      },
    },
    isWhole: meta?.[WHOLE_RESULT] === true,
    // Whatever the value, nothing may run by mistake.
    dryRun: ![undefined, null, false].includes(meta?.[DRY_RUN] as null),
    valuesFor: exchange.valuesFor,
  }
  const requestInput = liveInput(subject, exchange, parts.inputTimeoutMs)
  const call = isModern
    ? callInRounds(parts, exchange, subject, input, common, run)
    : run({ ...common, signal: token.signal, requestInput })
  return progress === undefined ? call : endAfter(call, progress)
}

/** Sends what is left of the progress before the result. */
async function endAfter(
  call: Promise<object>,
  progress: { end(): Promise<void> | void },
): Promise<object> {
  try {
    return await call
  } finally {
    await progress.end()
  }
}

/** Runs a modern call; the questions of its handler are its result. */
async function callInRounds(
  { seal }: CallParts,
  { request: { params = {} }, caller, token: outer }: Exchange,
  subject: string,
  input: JsonObject,
  common: Omit<SurfaceCall, "signal">,
  run: Run,
): Promise<object> {
  const { signal } = outer
  const token = new CancelToken()
  const binding = { principal: caller.identity?.id ?? "", tool: subject, input }
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
      // Not a copy: it has many members, and is of this call alone.
      const call = Object.assign(common, { signal: token.signal, requestInput })
      run(call).then(resolve, reject)
    })
    if (first !== undefined && rounds?.hasQuestions !== true) return first
  } catch (error) {
    if (rounds?.hasQuestions !== true) throw error
  } finally {
    removeSignalListener(signal, listener)
  }
  return await openRounds().result()
}
