import { inspect, isDeepStrictEqual } from "node:util"
import { isCallError } from "../../../src/core/errors.ts"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import type {
  ImportedOperation,
  ImportedOperations,
  PreparedRequest,
} from "../../../src/from-openapi.ts"
import { isJson, isText } from "../../../src/http-client/media-type.ts"
import { isRecord } from "../../../src/internal/guards.ts"
import { isNoValue } from "../../../src/schema/json.ts"
import { minimalValue } from "./minimal.ts"

/** Operations that are kept and cannot be called like this, and why; may only get shorter. */
export const UNCALLABLE: ReadonlyMap<string, string> = new Map([
  ["readme/3.0-circular-request-bodies.json directCircular", "Its answer requires itself within."],
])

/** What is imported of a document whose server answers with whatever is wanted. */
export interface Callable {
  readonly operations: ImportedOperations
  /** Those that are said to be kept. */
  readonly kept: readonly ImportedOperation[]
  /** What goes wrong with a call: the smallest input is sent, and the smallest answer comes back. */
  readonly fault: (operation: ImportedOperation) => Promise<string | undefined>
}

/** Imports a document, to call those of its operations that are said to be kept. */
export function callable(document: object | string, namespace = "api"): Callable {
  let next: () => Response = () => new Response()
  const fetch = (): Promise<Response> => Promise.resolve(next())
  const config = { namespace, baseUrl: "https://api.test/v1", fetch }
  const operations = FromOpenAPI(document, config)
  const kept = new Set(
    operations.report.operations.flatMap(({ id, status }) => (status === "kept" ? [id] : [])),
  )
  return {
    operations,
    kept: operations.filter(({ name }) => kept.has(`${namespace}.${name}`)),
    async fault(operation) {
      try {
        const input = minimalInput(operation)
        const request = await prepared(operation, input)
        if (request === undefined) return undefined
        const { answer, data } = answerOf(operation, request)
        next = () => answer
        const got = await received(operation, input)
        // An item of a stream may be what its event holds, or the event.
        if (operation.type === "subscription") return undefined
        return isDeepStrictEqual(got, data)
          ? undefined
          : `gave ${inspect(got)} for ${inspect(data)}`
      } catch (error) {
        return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      }
    },
  }
}

/** The smallest input, in which what stands in a path, or elsewhere, is not empty. */
export function minimalInput(
  { inputSchema, _meta = {} }: ImportedOperation,
  filled: readonly string[] = ["path"],
): unknown {
  const input = minimalValue(inputSchema) as Record<string, unknown>
  const { inputs } = _meta["openapi"] as { inputs: { key: string; in: string }[] }
  for (const { key, in: location } of inputs) {
    if (!filled.includes(location)) continue
    const value = input[key]
    if (Array.isArray(value) && value.length === 0) {
      const { properties, $defs } = inputSchema as { properties: object; $defs?: object }
      const list = (properties as Record<string, unknown>)[key]
      input[key] = minimalValue({ allOf: [list, { minItems: 1 }], $defs })
    } else if (isRecord(value) && Object.keys(value).length === 0) input[key] = { x: "x" }
  }
  return input
}

/** The request; nothing where it goes to another origin, which the user has to allow first. */
async function prepared(
  operation: ImportedOperation,
  input: unknown,
): Promise<PreparedRequest | undefined> {
  try {
    return await prepareRequest(operation, input)
  } catch (error) {
    if (!isCallError(error, "EGRESS_BLOCKED")) throw error
    const [, origin = ""] = /add "([^"]+)" to `allowedOrigins`/.exec(error.message) ?? []
    await prepareRequest(operation, input, { allowedOrigins: [origin] })
    return undefined
  }
}

/** An answer as the operation declares it, and what a caller should be given of it. */
function answerOf(
  { outputSchema, type }: ImportedOperation,
  { method, headers }: PreparedRequest,
): { answer: Response; data: unknown } {
  const [first = ""] = (headers["accept"] ?? "").split(", ")
  const isAny = first === "" || first.includes("*")
  const contentType = isAny ? "application/json" : first
  const isEmpty = method === "HEAD" || isNoValue(outputSchema)
  if (isEmpty && type !== "subscription") {
    return { answer: new Response(null, { status: 204 }), data: undefined }
  }
  const value = plain(minimalValue(outputSchema))
  const text = JSON.stringify(value)
  const typed = { headers: { "content-type": contentType } }
  if (type === "subscription") {
    const isEvents = contentType.startsWith("text/event-stream")
    const isSequence = contentType.includes("json-seq")
    const item = isEvents ? `data: ${text}\n\n` : `${isSequence ? "\u001e" : ""}${text}\n`
    return { answer: new Response(item, typed), data: value }
  }
  if (isJson(contentType)) return { answer: new Response(text, typed), data: value }
  if (isText(contentType)) {
    const data = isRecord(value) || Array.isArray(value) ? "x" : value
    const written = typeof data === "string" ? data : JSON.stringify(data)
    return { answer: new Response(written, typed), data }
  }
  const bytes = new Uint8Array([1, 2])
  return { answer: new Response(bytes, typed), data: bytes }
}

/** A value without bytes: what JSON can say. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return "x"
  if (Array.isArray(value)) return value.map(plain)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
}

async function received({ handler }: ImportedOperation, input: unknown): Promise<unknown> {
  const result = (handler as (input: unknown, context?: unknown) => unknown)(input, undefined)
  if (Symbol.asyncIterator in (result as object)) {
    for await (const item of result as AsyncIterable<unknown>) return dataOf(item)
    throw new Error("The stream has no item.")
  }
  return dataOf(await result)
}

function dataOf(result: unknown): unknown {
  return isRecord(result) && "meta" in result ? result["data"] : result
}
