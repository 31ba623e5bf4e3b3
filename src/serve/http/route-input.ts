// The inputs of routes that operations have of their own: loaded with the first such call.

import type { OperationSpec } from "../../core/types.ts"
import { isRecord } from "../../internal/guards.ts"
import { getOwn, setOwn, type JsonSchema } from "../../schema/json.ts"
import { hasBody } from "../negotiate.ts"
import { parseQuery, readFormInput } from "../query-input.ts"
import { badRequest } from "./context.ts"
import type { HTTPRefusal, RouteRequest } from "./context.ts"
import { decodeInput } from "./decode-input.ts"
import { readInput } from "./read-input.ts"
import type { HTTPContext } from "./http-context.ts"

/** An input in the path and the query. */
export function readQuery(
  context: HTTPContext,
  { incoming, params }: RouteRequest,
  spec: OperationSpec,
  names: readonly string[],
): unknown {
  if (incoming.method === "DELETE" && hasBody(incoming)) {
    throw badRequest("DELETE takes its input in the path and the query. Send no body.")
  }
  const texts = parseQuery(incoming.query)
  for (const [at, name] of names.entries()) {
    const text = params[at] ?? ""
    if (texts.get(name)?.every((one) => one === text) === false) throw twice(name, "query")
    texts.set(name, [text])
  }
  const schema = spec.inputSchema as JsonSchema
  const parse = (text: string): unknown => context.parseJSON(text, spec)
  return decodeInput(spec, readFormInput(texts, schema, parse))
}

/** An input in the path and the body. */
export async function readBody(
  context: HTTPContext,
  { incoming, params }: RouteRequest,
  spec: OperationSpec,
  names: readonly string[],
): Promise<unknown> {
  const body = await readInput(context, incoming, spec)
  if (names.length === 0) return body
  if (body !== undefined && !isRecord(body)) {
    throw badRequest("The body must be a JSON object: its members are added to those of the path.")
  }
  const texts = new Map(names.map((name, at) => [name, [params[at] ?? ""]]))
  const parse = (text: string): unknown => context.parseJSON(text, spec)
  const placed = readFormInput(texts, spec.inputSchema as JsonSchema, parse) as object
  const input = { ...body }
  for (const [name, value] of Object.entries(placed)) {
    if (Object.hasOwn(input, name) && getOwn(input, name) !== value) throw twice(name, "body")
    setOwn(input, name, value)
  }
  return input
}

/** The refusal of two values for one input: code in front of the server may have checked that of the path. */
function twice(name: string, place: "body" | "query"): HTTPRefusal {
  return badRequest(
    `"${name}" is in the path. Leave it out of the ${place}, or send the same value.`,
  )
}
