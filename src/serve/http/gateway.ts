import { jsonAnswer, dataAnswer, envelopeText } from "./answer.ts"
import { specFields } from "../../core/spec-schemas.ts"
import { plainSchema } from "../../schema/read/plain-schema.ts"
import { encodeFiles } from "../../core/unread-file.ts"
import { isFileLike } from "../../schema/files.ts"
import { perObject } from "../../internal/per-object.ts"
import { denial, requirementOf } from "../../core/access.ts"
import type { OperationSpec } from "../../core/types.ts"
import { selectData, selectionOf } from "../../core/selection.ts"
import { batchRoute } from "./batch.ts"
import { shownDeprecation } from "../../core/deprecation.ts"
import { answerOperation, withDeprecation } from "./deprecation.ts"
import { readInput } from "./files/upload.ts"
import { listOperations } from "./listing.ts"
import type { HTTPCaller, HTTPAnswer } from "../exchange.ts"
import { maySee } from "../expose.ts"
import { checkAcceptsEvents } from "./call-sink.ts"
import { EVENTS, preferredReturn, prefers, wantsOnlyEvents } from "../negotiate.ts"
import { WHOLE_INPUT, parseQuery } from "./query-input.ts"
import { HTTPRefusal, refuseGet, type RouteRequest, type Routes } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"

const PREFERENCE = { "preference-applied": "return=data" }
const FILE_PREFERENCE = { "preference-applied": "return=file" }

/** Routes that call every operation by its id and return envelopes. */
export function createGateway(context: HTTPContext): Routes {
  return [
    {
      method: "GET",
      path: "/operations",
      handle: async ({ incoming, caller }) =>
        jsonAnswer(JSON.stringify(await listOperations(context, caller, incoming.query))),
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
    batchRoute(context),
  ]
}

/** Answers with the spec, or with the stream for `EventSource`, which can only GET. */
function describeOrStream(
  context: HTTPContext,
  request: RouteRequest,
): HTTPAnswer | Promise<HTTPAnswer> {
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
    return answerOperation(context, request, spec, gatewayPath, () => {
      if (!isStream) throw noStream(id, spec)
      refuseGet(id, spec)
      const [text] = parseQuery(incoming.query).get(WHOLE_INPUT) ?? []
      const input = text === undefined ? undefined : context.parseJSON(text, spec)
      return context.stream(id, spec, input, request, envelopeText)
    })
  }
  return description(context, caller, id, spec)
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
    const isBare = incoming.query !== "" && asksToUnwrap(incoming.query)
    const selection = selectionOf(id, spec.outputSchema, selectedIn(incoming.query))
    const preferred = preferredReturn(incoming.header("prefer"))
    const input = await readInput(context, incoming, spec)
    const envelope = selectData(await context.execute(id, spec, input, request), selection)
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

function asksToUnwrap(query: string): boolean {
  const [value] = parseQuery(query).get("unwrap") ?? []
  return value === "" || value === "1" || value === "true"
}

/** The paths in `select=number,assignees.login`, which may be there several times. */
function selectedIn(query: string): readonly string[] | undefined {
  if (query === "") return undefined
  return parseQuery(query)
    .get("select")
    ?.flatMap((text) => text.split(","))
}

function noStream(id: string, { type }: OperationSpec): HTTPRefusal {
  return new HTTPRefusal(
    406,
    "INVALID_OPERATION_TYPE",
    `"${id}" is a ${type}, not a subscription: POST it with "Accept: application/json".`,
    { operationId: id, details: { operationId: id, type } },
  )
}

/** Answers with the spec, and with the policies that apply. */
async function description(
  context: HTTPContext,
  caller: HTTPCaller,
  id: string,
  spec: OperationSpec,
): Promise<HTTPAnswer> {
  const policies = (await context.registry.describePolicies?.(id)) ?? []
  const text = describeOperation(spec)
  const isShown = (other: string): boolean => context.findFor(caller, other) !== undefined
  // The rest is cached as text; policies change with the configuration, and callers see different successors.
  const more = JSON.stringify({
    deprecation: shownDeprecation(spec.deprecation, isShown),
    ...(policies.length > 0 && { resilience: policies }),
  })
  const answered = jsonAnswer(`${text.slice(0, -1)}${more === "{}" ? "" : ","}${more.slice(1)}`)
  return withDeprecation(answered, spec, context, caller, gatewayPath)
}

/** A spec as JSON: its input, output and errors, without implementation details. */
const describeOperation = perObject((spec: OperationSpec): string => {
  const { namespace, name, inputSchema, outputSchema, errorSchemas } = spec
  const { visibility: _, deprecation: _caller, ...fields } = specFields(spec)
  return JSON.stringify({
    id: `${namespace}.${name}`,
    namespace,
    name,
    ...fields,
    inputSchema: plainSchema(inputSchema),
    outputSchema: plainSchema(outputSchema),
    errorSchemas: errorSchemas?.map((one) => ({ ...one, schema: plainSchema(one.schema) })),
  })
})
