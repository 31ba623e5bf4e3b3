import { asksForDryRun } from "./call-sink.ts"
import { isIdempotencyKey, readCallPolicy } from "../../core/call-policy.ts"
import { decodeFiles } from "../../core/decode-files.ts"
import { decodeValue } from "../../core/envelope-codec.ts"
import { refusal } from "../../core/errors.ts"
import { selectData, selectionOf } from "../../core/selection.ts"
import { readOuterText } from "../../core/outer-call.ts"
import { encodeResult } from "../../core/unread-file.ts"
import type { ProgressUpdate } from "../../core/types.ts"
import { isRecord } from "../../internal/guards.ts"
import type { Logger } from "../../internal/logger.ts"
import { getOwn } from "../../schema/json.ts"
import { jsonAnswer, linesAnswer, envelopeText } from "./answer.ts"
import type { ItemTerms } from "./call-sink.ts"
import { requestIdFor } from "../exchange.ts"
import type { HTTPAnswer, HTTPCaller, HTTPIncoming, HTTPSink } from "../exchange.ts"
import { HTTPRefusal, type RouteRequest } from "./context.ts"
import type { CallIncoming, HTTPContext } from "./http-context.ts"
import { LINES, prefers } from "../negotiate.ts"
import { responseHostOf } from "./response.ts"

/** Maximum concurrent calls of one batch. */
const AT_ONCE = 16

/** Answers several calls in one request, each with its own result. */
export async function runBatch(context: HTTPContext, request: RouteRequest): Promise<HTTPAnswer> {
  const { incoming, caller } = request
  const { maxBodyBytes, maxBatch } = context.options
  const body = context.parseBody(await incoming.readBody(maxBodyBytes))
  const items = itemsOf(body, maxBatch)
  // The request itself paid for the first call.
  const unpaid = caller.charge(items.length - 1)
  if (unpaid !== undefined) throw unpaid
  const isLines = prefers(incoming.header("accept"), LINES)
  // A single result is sent when it is there, with its cookies.
  if (isLines && (items.length > 1 || asksForProgress(items[0]))) {
    return linesAnswer({ run: (sink) => runInto(sink, context, request, items) })
  }
  const results: string[] = []
  await runAll(context, request, items, (at, text) => {
    results[at] = text
  })
  const text = results.join(",")
  return isLines ? linesAnswer(`${text}\n`) : jsonAnswer(`{"results":[${text}]}`)
}

function asksForProgress(item: unknown): boolean {
  return isRecord(item) && getOwn(item, "progress") === true
}

/** Writes each result as a line as soon as it is there. */
async function runInto(
  sink: HTTPSink,
  context: HTTPContext,
  request: RouteRequest,
  items: readonly unknown[],
): Promise<void> {
  const write = (text: string): boolean => sink.isGone || sink.write(`${text}\n`)
  await runAll(
    context,
    request,
    items,
    // A slow reader slows down the calls that have not begun.
    (_at, text) => (write(text) ? undefined : sink.drained()),
    (text) => void write(text),
  )
}

/** Runs the calls of a batch, several at once. `report` receives progress of those that ask for it. */
async function runAll(
  context: HTTPContext,
  request: RouteRequest,
  items: readonly unknown[],
  finish: (at: number, text: string) => Promise<void> | void,
  report?: (text: string) => void,
): Promise<void> {
  const { incoming, caller } = request
  const began = context.clock.now()
  const elapsed = (): number => context.clock.now() - began
  let next = 0
  let isGone = false
  const stop = incoming.onGone(() => {
    isGone = true
  })
  const work = async (): Promise<void> => {
    while (next < items.length && !isGone) {
      const at = next++
      const item = isRecord(items[at]) ? items[at] : {}
      const isSent = report !== undefined
      const own = new BatchIncoming(incoming, at, getOwn(item, "requestId"), elapsed, isSent)
      const text = await resultOf(context, { incoming: own, caller }, item, report)
      own.passCookies(context.logger)
      await finish(at, text)
    }
  }
  // The request has one slot; further concurrent calls take more slots of the caller.
  const others = caller.takeSlots(Math.min(AT_ONCE, items.length) - 1)
  try {
    await Promise.all(Array.from({ length: 1 + others }, work))
  } finally {
    stop()
  }
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
  request: { readonly incoming: CallIncoming; readonly caller: HTTPCaller },
  fields: Readonly<Record<string, unknown>>,
  report: ((text: string) => void) | undefined,
): Promise<string> {
  const key = getOwn(fields, "key")
  const id = getOwn(fields, "id")
  const spec = typeof id === "string" ? context.find(id) : undefined
  const shown =
    typeof key === "string" || typeof key === "number" ? `"key":${JSON.stringify(key)},` : ""
  try {
    if (typeof id !== "string") {
      throw refusal("VALIDATION_ERROR", `A call of a batch needs an "id" such as "task.create".`)
    }
    if (key !== undefined && shown === "") throw badField("key", "a string or a number")
    const isDry = getOwn(fields, "dryRun") === true || asksForDryRun(request.incoming)
    if (spec?.type === "subscription" && !isDry) throw notInBatch(id)
    const terms = itemTerms(fields, ({ progress, total, message }) => {
      report?.(`{${shown}"progress":${JSON.stringify({ progress, total, message })}}`)
    })
    const input = decodeValue(getOwn(fields, "input"), getOwn(fields, "binary"))
    if (spec === undefined) throw context.missing(id, request.caller)
    const decoded = decodeFiles(spec.inputSchema, input)
    const select = isDry ? undefined : getOwn(fields, "select")
    const selection = selectionOf(id, spec.outputSchema, select)
    const whole = await context.execute(id, spec, decoded, request, terms)
    const envelope = selectData(whole, selection)
    const text = await encodeResult(() => envelopeText(envelope))
    return `{${shown}"ok":true,"envelope":${text}}`
  } catch (error) {
    return `{${shown}"ok":false,"problem":${context.problemText(error, request, spec)}}`
  }
}

/** What one call of a batch sets for itself; throws a `CallError` if it is invalid. */
function itemTerms(
  fields: Readonly<Record<string, unknown>>,
  progress: (update: ProgressUpdate) => void,
): ItemTerms {
  const timeout = getOwn(fields, "timeoutMs")
  const metadata = decodeValue(getOwn(fields, "metadata"), getOwn(fields, "binaryMetadata"))
  const parentRequestId = getOwn(fields, "parentRequestId")
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0)) {
    throw badField("timeoutMs", "a number of milliseconds above 0")
  }
  if (metadata !== undefined && !isRecord(metadata)) throw badField("metadata", "an object")
  if (parentRequestId !== undefined && typeof parentRequestId !== "string") {
    throw badField("parentRequestId", "a string")
  }
  const idempotencyKey = getOwn(fields, "idempotencyKey")
  if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
    throw badField("idempotencyKey", "a string of 1 to 255 characters")
  }
  const dryRun = getOwn(fields, "dryRun")
  if (dryRun !== undefined && typeof dryRun !== "boolean") throw badField("dryRun", "true or false")
  return {
    timeout,
    metadata,
    dryRun,
    outer: readOuterText(getOwn(fields, "outer")),
    policy: readCallPolicy(getOwn(fields, "policy")),
    idempotencyKey,
    parentRequestId,
    progress: getOwn(fields, "progress") === true ? progress : undefined,
  }
}

/** The request from the view of one of its calls. */
class BatchIncoming implements CallIncoming {
  readonly method: string
  readonly path: string
  /** Each call has its own id. */
  readonly requestId: string
  readonly like: HTTPIncoming["like"]
  readonly raw: HTTPIncoming["raw"]
  readonly #whole: HTTPIncoming
  readonly #index: number
  readonly #elapsed: () => number
  /** The response to the batch has begun. */
  readonly #isSent: boolean
  #response: HTTPIncoming["response"]

  constructor(
    whole: HTTPIncoming,
    index: number,
    requestId: unknown,
    elapsed: () => number,
    isSent: boolean,
  ) {
    this.method = whole.method
    this.path = whole.path
    this.like = whole.like
    this.raw = whole.raw
    const own = typeof requestId === "string" ? requestId : `${whole.requestId}.${index}`
    this.requestId = requestIdFor(own)
    this.#whole = whole
    this.#index = index
    this.#elapsed = elapsed
    this.#isSent = isSent
    this.#response = undefined
  }

  get response(): HTTPIncoming["response"] {
    return this.#response
  }

  set response(response: HTTPIncoming["response"]) {
    this.#response = this.#isSent ? response?.seal() : response
  }

  /** Headers of the request; `x-timeout-ms` is what remains of the whole batch, and each call has its own key. */
  header(name: string): string | undefined {
    const value = this.#whole.header(name)
    if (value === undefined) return undefined
    if (name === "idempotency-key") return `${value.replace(/^"(.*)"$/, "$1")}.${this.#index}`
    if (name !== "x-timeout-ms" || !/^\d{1,15}$/.test(value)) return value
    return String(Math.max(1, Math.floor(Number(value) - this.#elapsed())))
  }

  onGone(listener: () => void): () => void {
    return this.#whole.onGone(listener)
  }

  /** Adds the cookies that the handler of this call set to the response of the batch, and nothing else. */
  passCookies(logger: Logger): void {
    this.response?.passCookies(responseHostOf(this.#whole, "batch", logger))
  }
}

function badField(name: string, expected: string): Error {
  return refusal("VALIDATION_ERROR", `The "${name}" of a call must be ${expected}.`)
}

function notInBatch(operationId: string): Error {
  return refusal(
    "INVALID_OPERATION_TYPE",
    `"${operationId}" is a subscription, and those cannot be read in a batch.`,
    { operationId, details: { operationId, type: "subscription" } },
  )
}
