import { CallError } from "../../core/errors.ts"
import { readEvents, type StreamEvent } from "../../http-client/events.ts"
import type { HttpResponse } from "../../http-client/exchange.ts"
import { streamKindOf, type StreamKind } from "../../http-client/media-type.ts"
import { readBody } from "../../http-client/read-body.ts"
import { followEvents, lastEventIdHeader } from "../../http-client/reconnect.ts"
import type { ReconnectPolicy } from "../../http-client/reconnect.ts"
import { httpEnvelope, type ResponseEnvelope } from "../../core/envelope.ts"
import type { HTTPOperationClient } from "./call.ts"
import { createCallLimits, type HandlerContext } from "./call-limits.ts"
import { excerpt } from "../../http-client/decode.ts"
import { isRecord, isString } from "../../internal/guards.ts"
import { getOwn } from "../../schema/json.ts"
import { isStream } from "./operation/media.ts"
import type { OperationSource } from "./operation/source.ts"
import type { StreamPlan } from "./operation/stream-plan.ts"
import { problemError } from "./problem-error.ts"

/**
 * Runs a streaming operation: yields one envelope per item, on demand. Leaving the loop closes the connection.
 */
export async function* streamItems(
  caller: HTTPOperationClient,
  source: OperationSource,
  input: unknown,
  context: HandlerContext | undefined,
  reconnect: ReconnectPolicy | undefined,
): AsyncGenerator<ResponseEnvelope, void, void> {
  const plan = source.stream as StreamPlan
  const limits = createCallLimits(context, undefined, source.id)
  const { signal } = limits
  let answer = await caller.open(source, input, context, limits).catch((error: unknown) => {
    limits.end()
    throw error
  })
  const options = {
    signal,
    operationId: source.id,
    origin: new URL(answer.response.url).origin,
    bigint: caller.bigint,
    onWarning: (message: string) => context?.log?.warn(message, { operationId: source.id }),
  }
  try {
    const kind = kindOf(answer.response, plan)
    if (kind === undefined) {
      // A server may return a single item as a plain response.
      const { secrets } = answer
      const { method } = source.operation
      const { data } = await readBody(answer.response, { ...options, secrets, method })
      if (data !== undefined) yield envelope(data, answer.response, undefined)
      return
    }
    const { body, status } = answer.response
    if (body === null || status === 204) return
    // Each connection may have its own credential; all of them are masked.
    const secrets = [...answer.secrets]
    let first: ReadableStream<Uint8Array> | undefined = body
    const events =
      reconnect !== undefined && kind === "sse"
        ? followEvents(
            async (lastEventId) => {
              const opened = first
              first = undefined
              if (opened !== undefined) return opened
              const headers = lastEventId
                ? { "last-event-id": lastEventIdHeader(lastEventId) }
                : undefined
              const more = { headers, isOnce: false }
              answer = await caller.open(source, input, context, limits, more)
              secrets.push(...answer.secrets.filter((secret) => !secrets.includes(secret)))
              return answer.response.status === 204 ? null : answer.response.body
            },
            { ...options, secrets, reconnect },
          )
        : readEvents(body, kind, { ...options, secrets })
    const { isOurs } = source.problems
    for await (const event of events) {
      if (isOurs && event.event === "end") return
      if (isOurs && event.event === "error") throw failureOf(event.data, source, context)
      const failure = plan.yields === "result" ? errorIn(event.data) : undefined
      if (failure !== undefined) throw failureOf(failure, source, context)
      yield envelope(source.decoded(itemOf(event, plan)), answer.response, event)
    }
  } finally {
    limits.end()
  }
}

/** The error that a gRPC gateway sends in the place of an item. */
function errorIn(data: unknown): unknown {
  return isRecord(data) && !Object.hasOwn(data, "result")
    ? (getOwn(data, "error") ?? undefined)
    : undefined
}

/** Converts the failure event of a server of this library to the original error; others stay in the details. */
function failureOf(
  problem: unknown,
  source: OperationSource,
  context: HandlerContext | undefined,
): CallError {
  const { id } = source
  const text = source.problems.isOurs || !isRecord(problem) ? undefined : problem["message"]
  const reason = isString(text) ? `: ${excerpt(text, 200)}` : "."
  const failure = new CallError("EXECUTION_ERROR", `The stream of "${id}" failed${reason}`, {
    operationId: id,
    ...(problem !== undefined && { details: { body: problem } }),
  })
  return problemError(problem, failure, source, context) ?? failure
}

function kindOf(response: HttpResponse, plan: StreamPlan): StreamKind | undefined {
  const actual = streamKindOf(response.contentType)
  if (actual !== undefined) return actual
  const { class: declared } = plan.media
  // JSON Lines are often labelled as JSON, or not at all; event streams are always labelled.
  return isStream(declared) && declared !== "sse" ? declared : undefined
}

function itemOf(event: StreamEvent, { yields, isText }: StreamPlan): unknown {
  const data = isText ? event.raw : event.data
  switch (yields) {
    case "data":
      return data
    case "result":
      return isRecord(data) && Object.hasOwn(data, "result") ? data["result"] : data
    case "event": {
      const { event: name, id, retry } = event
      return {
        data,
        ...(name !== undefined && { event: name }),
        ...(id !== undefined && { id }),
        ...(retry !== undefined && { retry }),
      }
    }
  }
}

function envelope(
  data: unknown,
  { status, headers, contentType }: HttpResponse,
  event: StreamEvent | undefined,
): ResponseEnvelope {
  const { event: name, id, retry } = event ?? {}
  const hasEvent = name !== undefined || id !== undefined || retry !== undefined
  return httpEnvelope(data, {
    statusCode: status,
    headers,
    contentType,
    ...(hasEvent && {
      event: {
        ...(name !== undefined && { name }),
        ...(id !== undefined && { id }),
        ...(retry !== undefined && { retry }),
      },
    }),
  })
}
