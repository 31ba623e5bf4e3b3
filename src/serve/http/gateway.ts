import { jsonAnswer, dataAnswer, envelopeText, withHeaders } from "./answer.ts"
import { idOf } from "../../core/define.ts"
import { encodeResult } from "../../core/unread-file.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { FILE_MARK, isFileLike } from "../../schema/files.ts"
import { denial, requirementOf } from "../../core/access.ts"
import type { OperationSpec } from "../../core/types.ts"
import { decodeInput } from "./decode-input.ts"
import { answerOperation } from "./deprecation.ts"
import { readInput } from "./read-input.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { maySee } from "../../tools/expose.ts"
import { checkAcceptsEvents, asksForDryRun } from "./call-sink.ts"
import { asksForType, EVENTS, preferredReturn, prefers, wantsOnlyEvents } from "../negotiate.ts"
import { HTTPRefusal, refuseGet, type RouteRequest, type Routes } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"

const PREFERENCE = { "preference-applied": "return=data" }
const FILE_PREFERENCE = { "preference-applied": "return=file" }

/** The gateway path of an operation, from that of another one: only the last segment differs. */
const gatewayPath = idOf

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

/**
 * Answers with the spec; with the stream for `EventSource`, which can only GET; or, if the URL has an input, with the
 * result of a query, so that HTTP caches can keep it.
 */
async function describeOrStream(context: HTTPContext, request: RouteRequest): Promise<HTTPAnswer> {
  const { incoming, caller, params } = request
  const [id = ""] = params
  const spec = context.require(id, caller)
  // The same error as for a call that is not permitted.
  if (!maySee(spec, caller.identity)) {
    throw denial(requirementOf(spec.accessControl), caller.identity, id)
  }
  const accept = incoming.header("accept")
  const isStream = spec.type === "subscription" && !asksForDryRun(incoming)
  if (isStream ? prefers(accept, EVENTS) : wantsOnlyEvents(accept)) {
    return await answerOperation(context, request, spec, gatewayPath, async () => {
      if (!isStream) throw noStream(id, spec)
      refuseGet(id, spec)
      const text = await queryInput(incoming.query)
      const input = text === undefined ? undefined : context.parseJSON(text, spec)
      return await context.stream(id, spec, input, request, envelopeText)
    })
  }
  const text = incoming.query === "" ? undefined : await queryInput(incoming.query)
  if (text === undefined) {
    const { describeOperation } = await import("./listing.ts")
    return await describeOperation(context, caller, id, spec, gatewayPath)
  }
  return await answerOperation(context, request, spec, gatewayPath, async () => {
    refuseGet(id, spec)
    const answer = await answerCall(context, request, spec, () =>
      decodeInput(spec, context.parseJSON(text, spec)),
    )
    return withHeaders(answer, { vary: "Accept, Prefer" })
  })
}

function call(context: HTTPContext, request: RouteRequest): Promise<HTTPAnswer> {
  const { incoming, caller, params } = request
  const [id = ""] = params
  const spec = context.require(id, caller)
  return answerOperation(context, request, spec, gatewayPath, () =>
    answerCall(context, request, spec, () => readInput(context, incoming, spec)),
  )
}

async function answerCall(
  context: HTTPContext,
  request: RouteRequest,
  spec: OperationSpec,
  read: () => unknown,
): Promise<HTTPAnswer> {
  const { incoming } = request
  const id = idOf(spec)
  const accept = incoming.header("accept")
  if (asksForDryRun(incoming)) {
    return await context.dryRun(id, spec, await read(), request, envelopeText)
  }
  // Read before anything runs: a malformed query is refused without side effects.
  const select = await selectionIn(incoming.query, id, spec)
  if (spec.type === "subscription") {
    checkAcceptsEvents(accept, id)
    const textOf = (item: ResponseEnvelope): string => envelopeText(select(item))
    return await context.stream(id, spec, await read(), request, textOf)
  }
  if (accept !== undefined && wantsOnlyEvents(accept)) throw noStream(id, spec)
  const isBare = incoming.query !== "" && (await asksToUnwrap(incoming.query))
  const preferred = preferredReturn(incoming.header("prefer"))
  const envelope = select(await context.execute(id, spec, await read(), request))
  // Other metadata than that of a local result would be lost.
  const isFile = isFileLike(envelope.data) && envelope.meta.source === "local"
  const isStreamed = preferred === "file" && isFile && (await mayBeStreamed(spec))
  const answer = await encodeResult(() => {
    if (preferred === "data") return dataAnswer(context, envelope, spec, PREFERENCE)
    if (isStreamed) return dataAnswer(context, envelope, spec, FILE_PREFERENCE)
    return isBare ? dataAnswer(context, envelope, spec) : jsonAnswer(envelopeText(envelope))
  })
  if (!asksForType(incoming.header("prefer"))) return answer
  return withHeaders(answer, { "operation-type": spec.type })
}

/** Whether a file can be the body of an answer: clients of a schema with `File` expect a `File`, and no stream. */
async function mayBeStreamed({ outputSchema }: OperationSpec): Promise<boolean> {
  const { viewOf } = await import("../../schema/read/view.ts")
  return viewOf(outputSchema).first(FILE_MARK) !== "file"
}

/** The text of a whole input in a query. */
async function queryInput(query: string): Promise<string | undefined> {
  const { WHOLE_INPUT, parseQuery } = await import("../query-input.ts")
  return parseQuery(query).get(WHOLE_INPUT)?.[0]
}

/** What `select=number,assignees.login` takes of a result. Throws `VALIDATION_ERROR`. */
async function selectionIn(
  query: string,
  id: string,
  { outputSchema }: OperationSpec,
): Promise<(envelope: ResponseEnvelope) => ResponseEnvelope> {
  if (!query.includes("select=")) return (envelope) => envelope
  const { parseQuery } = await import("../query-input.ts")
  const { selectData, selectionOf } = await import("../../core/selection.ts")
  const texts = parseQuery(query).get("select")
  const selection = selectionOf(
    id,
    outputSchema,
    texts?.flatMap((text) => text.split(",")),
  )
  return (envelope) => selectData(envelope, selection)
}

async function asksToUnwrap(query: string): Promise<boolean> {
  const { parseQuery } = await import("../query-input.ts")
  const [value] = parseQuery(query).get("unwrap") ?? []
  return value === "" || value === "1" || value === "true"
}

function noStream(id: string, { type }: OperationSpec): HTTPRefusal {
  return new HTTPRefusal(
    406,
    "INVALID_OPERATION_TYPE",
    `"${id}" has one result: POST it with "Accept: application/json".`,
    { operationId: id, details: { operationId: id, type } },
  )
}
