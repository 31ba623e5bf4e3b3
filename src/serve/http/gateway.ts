import { jsonAnswer, dataAnswer, envelopeText } from "./answer.ts"
import { encodeFiles } from "../../core/unread-file.ts"
import { isFileLike } from "../../schema/files.ts"
import { denial, requirementOf } from "../../core/access.ts"
import type { OperationSpec } from "../../core/types.ts"
import { answerOperation } from "./deprecation.ts"
import { readInput } from "./read-input.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { maySee } from "../expose.ts"
import { checkAcceptsEvents } from "./call-sink.ts"
import { EVENTS, preferredReturn, prefers, wantsOnlyEvents } from "../negotiate.ts"
import { HTTPRefusal, refuseGet, type RouteRequest, type Routes } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"

const PREFERENCE = { "preference-applied": "return=data" }
const FILE_PREFERENCE = { "preference-applied": "return=file" }

/** Routes that call every operation by its id and return envelopes. What few requests need is loaded with the first. */
export function createGateway(context: HTTPContext): Routes {
  return [
    {
      method: "GET",
      path: "/operations",
      handle: async ({ incoming, caller }) => {
        const { listOperations } = await import("./listing.ts")
        return jsonAnswer(JSON.stringify(await listOperations(context, caller, incoming.query)))
      },
    },
    {
      method: "GET",
      path: "/operations/{id}",
      handle: (request) => describeOrStream(context, request),
    },
    {
      method: "POST",
      path: "/operations/{id}",
      takesFiles: true,
      handle: (request) => call(context, request),
    },
    {
      method: "POST",
      path: "/batch",
      handle: async (request) => {
        const { runBatch } = await import("./batch.ts")
        return await runBatch(context, request)
      },
    },
  ]
}

/** Answers with the spec, or with the stream for `EventSource`, which can only GET. */
async function describeOrStream(context: HTTPContext, request: RouteRequest): Promise<HTTPAnswer> {
  const { incoming, caller, params } = request
  const [id = ""] = params
  const spec = context.require(id, caller)
  // The same error as for a call that is not permitted.
  if (!maySee(spec, caller.identity)) {
    throw denial(requirementOf(spec.accessControl), caller.identity, id)
  }
  const accept = incoming.header("accept")
  const isStream = spec.type === "subscription"
  if (isStream ? prefers(accept, EVENTS) : wantsOnlyEvents(accept)) {
    return await answerOperation(context, request, spec, gatewayPath, async () => {
      if (!isStream) throw noStream(id, spec)
      refuseGet(id, spec)
      const { WHOLE_INPUT, parseQuery } = await import("./query-input.ts")
      const [text] = parseQuery(incoming.query).get(WHOLE_INPUT) ?? []
      const input = text === undefined ? undefined : context.parseJSON(text, spec)
      return await context.stream(id, spec, input, request, envelopeText)
    })
  }
  const { describeOperation } = await import("./listing.ts")
  return await describeOperation(context, caller, id, spec, gatewayPath)
}

function call(context: HTTPContext, request: RouteRequest): Promise<HTTPAnswer> {
  const { incoming, caller, params } = request
  const [id = ""] = params
  const spec = context.require(id, caller)
  const accept = incoming.header("accept")
  return answerOperation(context, request, spec, gatewayPath, async () => {
    if (spec.type === "subscription") {
      checkAcceptsEvents(accept, id)
      const input = await readInput(context, incoming, spec)
      return await context.stream(id, spec, input, request, envelopeText)
    }
    if (accept !== undefined && wantsOnlyEvents(accept)) throw noStream(id, spec)
    // Read before anything runs: a malformed query is refused without side effects.
    const isBare = incoming.query !== "" && (await asksToUnwrap(incoming.query))
    const preferred = preferredReturn(incoming.header("prefer"))
    const input = await readInput(context, incoming, spec)
    const envelope = await context.execute(id, spec, input, request)
    return await encodeFiles(() => {
      if (preferred === "data") return dataAnswer(context, envelope, spec, PREFERENCE)
      // Other metadata than that of a local result would be lost.
      const isFile = isFileLike(envelope.data) && envelope.meta.source === "local"
      if (isFile && preferred === "file")
        return dataAnswer(context, envelope, spec, FILE_PREFERENCE)
      return isBare ? dataAnswer(context, envelope, spec) : jsonAnswer(envelopeText(envelope))
    })
  })
}

/** The gateway path of an operation, from that of another one: only the last segment differs. */
function gatewayPath({ namespace, name }: OperationSpec): string {
  return `${namespace}.${name}`
}

async function asksToUnwrap(query: string): Promise<boolean> {
  const { parseQuery } = await import("./query-input.ts")
  const [value] = parseQuery(query).get("unwrap") ?? []
  return value === "" || value === "1" || value === "true"
}

function noStream(id: string, { type }: OperationSpec): HTTPRefusal {
  return new HTTPRefusal(
    406,
    "INVALID_OPERATION_TYPE",
    `"${id}" is a ${type}, not a subscription: POST it with "Accept: application/json".`,
    { operationId: id, details: { operationId: id, type } },
  )
}
