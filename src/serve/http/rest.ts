import type { JsonSchema } from "../../schema/json.ts"
import type { OperationSpec, RestRoute } from "../../core/types.ts"
import { idOf } from "../../core/define.ts"
import { encodeResult } from "../../core/unread-file.ts"
import { dataAnswer, itemText } from "./answer.ts"
import { decodeInput } from "./decode-input.ts"
import { answerOperation } from "./deprecation.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { readInput } from "./read-input.ts"
import { checkAcceptsEvents, asksForDryRun } from "./call-sink.ts"
import { withStatus } from "./response.ts"
import { refuseGet, type RouteRequest, type Routes } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"

/** Routes with a path for each operation, and data without envelopes. */
export function createRest(context: HTTPContext): Routes {
  const { rest } = context.options
  if (rest === undefined) return []
  const path = `${rest.path}/{namespace}/{name}`
  return [
    {
      method: "POST",
      path,
      takesFiles: true,
      handle: (request) =>
        answer(context, request, (spec) => readInput(context, request.incoming, spec)),
    },
    { method: "GET", path, handle: (request) => get(context, request) },
  ]
}

/** `GET /openapi.json`, the document about these routes: loaded with the first request, and forgotten with each change. */
export function documentRoutes(
  context: HTTPContext,
  routeOf: (spec: OperationSpec) => RestRoute | undefined,
  stops: (() => void)[],
): Routes {
  const { rest } = context.options
  if (rest === undefined) return []
  let documents: ((request: RouteRequest) => Promise<HTTPAnswer>) | undefined
  stops.push(context.registry.onChange(() => (documents = undefined)))
  return [
    {
      method: "GET",
      path: "/openapi.json",
      handle: async (request) => {
        const { createDocuments } = await import("./documents.ts")
        return await (documents ??= createDocuments(context, { restPath: rest.path, routeOf }))(
          request,
        )
      },
    },
  ]
}

/** GET runs only queries and streams that change nothing. */
function get(context: HTTPContext, request: RouteRequest): Promise<HTTPAnswer> {
  return answer(context, request, async (spec, id) => {
    refuseGet(id, spec)
    const { readQueryInput } = await import("../query-input.ts")
    const schema = spec.inputSchema as JsonSchema
    const parse = (text: string): unknown => context.parseJSON(text, spec)
    return await decodeInput(spec, readQueryInput(request.incoming.query, schema, parse))
  })
}

function answer(
  context: HTTPContext,
  request: RouteRequest,
  read: (spec: OperationSpec, id: string) => unknown,
): Promise<HTTPAnswer> {
  const { caller, params } = request
  const [namespace = "", name = ""] = params
  const id = `${namespace}.${name}`
  // A namespace has no dot: otherwise `/a.b/c` would be another path to `/a/b.c`.
  const spec = namespace.includes(".") ? undefined : context.find(id)
  if (spec === undefined) throw context.missing(id, caller)
  return answerOperation(context, request, spec, restPath, () =>
    answerData(context, request, spec, () => read(spec, id)),
  )
}

/** Runs an operation, and answers with its data or with the items of its stream. */
export async function answerData(
  context: HTTPContext,
  request: RouteRequest,
  spec: OperationSpec,
  read: () => unknown,
): Promise<HTTPAnswer> {
  const id = idOf(spec)
  if (asksForDryRun(request.incoming)) {
    const input = await read()
    return await context.dryRun(id, spec, input, request, ({ data }) => JSON.stringify(data))
  }
  const isStream = spec.type === "subscription"
  if (isStream) checkAcceptsEvents(request.incoming.header("accept"), id)
  const input = await read()
  if (isStream) return await context.stream(id, spec, input, request, itemText)
  const envelope = await context.execute(id, spec, input, request)
  return withStatus(await encodeResult(() => dataAnswer(context, envelope, spec)), request.incoming)
}

/** The REST path of an operation, from that of another one. */
function restPath({ namespace, name }: OperationSpec): string {
  return `../${namespace}/${name}`
}
