import { refusal } from "../../core/errors.ts"
import { isRecord } from "../../internal/guards.ts"
import { getOwn } from "../../schema/json.ts"
import { envelopeText } from "./answer-bodies.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import { HTTPRefusal } from "./context.ts"
import type { HTTPContext, Route, RouteRequest } from "./context.ts"

/** Maximum concurrent calls of one batch. */
const AT_ONCE = 16

/** The route for several calls in one request, each with its own result. */
export function batchRoute(context: HTTPContext): Route {
  return { method: "POST", path: "/batch", handle: (request) => runBatch(context, request) }
}

async function runBatch(context: HTTPContext, request: RouteRequest): Promise<HTTPAnswer> {
  const { incoming, caller } = request
  const items = itemsOf(await context.readJSON(incoming), context.options.maxBatch)
  // The request itself paid for the first call.
  const unpaid = caller.charge(items.length - 1)
  if (unpaid !== undefined) throw unpaid
  const began = context.clock.now()
  const results: string[] = []
  let next = 0
  let isGone = false
  const stop = incoming.onGone(() => {
    isGone = true
  })
  const work = async (): Promise<void> => {
    while (next < items.length && !isGone) {
      const at = next++
      const own = new BatchIncoming(incoming, at, () => context.clock.now() - began)
      results[at] = await resultOf(context, { ...request, incoming: own }, items[at])
    }
  }
  // The request has one slot; further concurrent calls take more slots of the caller.
  const others = caller.takeSlots(Math.min(AT_ONCE, items.length) - 1)
  try {
    await Promise.all(Array.from({ length: 1 + others }, work))
  } finally {
    stop()
  }
  return context.json(`{"results":[${results.join(",")}]}`)
}

function itemsOf(body: unknown, most: number): readonly unknown[] {
  const calls = isRecord(body) ? getOwn(body, "calls") : body
  if (!Array.isArray(calls)) {
    throw refusal(
      "VALIDATION_ERROR",
      `A batch is a list of calls, such as [{ "id": "task.list", "input": {} }], or { "calls": [...] }.`,
    )
  }
  if (calls.length > most) {
    throw new HTTPRefusal(
      413,
      "PAYLOAD_TOO_LARGE",
      `The batch has ${calls.length} calls; at most ${most} are taken at once.`,
    )
  }
  return calls
}

/** Runs one call and returns its result as JSON; never rejects. */
async function resultOf(
  context: HTTPContext,
  { incoming, caller }: RouteRequest,
  item: unknown,
): Promise<string> {
  const fields = isRecord(item) ? item : {}
  const key = getOwn(fields, "key")
  const id = getOwn(fields, "id")
  const shown =
    typeof key === "string" || typeof key === "number" ? `"key":${JSON.stringify(key)},` : ""
  try {
    if (typeof id !== "string") throw noId()
    if (key !== undefined && shown === "") throw badKey()
    const spec = context.find(id)
    if (spec?.type === "subscription") throw isStream(id)
    const envelope = await context.execute(id, getOwn(fields, "input"), incoming, caller)
    return `{${shown}"ok":true,"envelope":${envelopeText(envelope)}}`
  } catch (error) {
    const spec = typeof id === "string" ? context.find(id) : undefined
    return `{${shown}"ok":false,"problem":${context.problemText(error, incoming, spec, caller)}}`
  }
}

/** The request from the view of one of its calls. */
class BatchIncoming implements HTTPIncoming {
  readonly method: string
  readonly path: string
  readonly mountPath: string | undefined
  readonly query: string
  readonly like: HTTPIncoming["like"]
  readonly identity: HTTPIncoming["identity"]
  /** Each call has its own id. */
  readonly requestId: string
  readonly #whole: HTTPIncoming
  readonly #elapsed: () => number

  constructor(whole: HTTPIncoming, index: number, elapsed: () => number) {
    this.method = whole.method
    this.path = whole.path
    this.mountPath = whole.mountPath
    this.query = whole.query
    this.like = whole.like
    this.identity = whole.identity
    this.requestId = `${whole.requestId}.${index}`
    this.#whole = whole
    this.#elapsed = elapsed
  }

  /** Headers of the request; `x-timeout-ms` is what remains of the whole batch. */
  header(name: string): string | undefined {
    const value = this.#whole.header(name)
    if (value === undefined) return undefined
    if (name !== "x-timeout-ms" || !/^\d{1,15}$/.test(value)) return value
    return String(Math.max(1, Math.floor(Number(value) - this.#elapsed())))
  }

  readBody(maxBytes: number): Promise<string | undefined> {
    return this.#whole.readBody(maxBytes)
  }

  onGone(listener: () => void): () => void {
    return this.#whole.onGone(listener)
  }
}

function noId(): Error {
  return refusal("VALIDATION_ERROR", `A call of a batch needs an "id" such as "task.create".`)
}

function badKey(): Error {
  return refusal("VALIDATION_ERROR", `The "key" of a call must be a text or a number.`)
}

function isStream(operationId: string): Error {
  return refusal(
    "INVALID_OPERATION_TYPE",
    `"${operationId}" is a subscription, and those cannot be read in a batch.`,
    { operationId, details: { operationId, type: "subscription" } },
  )
}
