import type { TSchema } from "typebox"
import { ID_LENGTH, IdentitySchema, OPERATION_ID_LENGTH } from "./spec-schemas.ts"
import type { ResponseEnvelope } from "./envelope.ts"
import type { JsonSchema } from "../schema/json.ts"
import type { TraceContext } from "./tracing.ts"
import type { CallPolicy, Identity, InputRequest, InputResponse, ProgressUpdate } from "./types.ts"

/** A caller requests an operation. */
export interface CallRequestedEvent {
  readonly type: "call.requested"
  readonly requestId: string
  readonly operationId: string
  readonly input?: unknown
  /** The version that the caller imported, for workers that serve several. */
  readonly version?: string | undefined
  /**
   * Whether one response or a stream is expected; if absent, the operation decides. `dry-run`: the response is the report
   * of a dry run, and peers that do not know it refuse the request.
   */
  readonly kind?: "call" | "stream" | "dry-run" | undefined
  readonly parentRequestId?: string | undefined
  /** Levels of calls above this one, across all registries. Absent: it is an outermost call. */
  readonly depth?: number | undefined
  /** The outermost call, if `depth` is set. */
  readonly rootRequestId?: string | undefined
  /** Epoch milliseconds, if both ends share a clock. */
  readonly deadline?: number | undefined
  /** Remaining milliseconds, if they do not share a clock. Takes precedence over `deadline`. */
  readonly timeout?: number | undefined
  /** Milliseconds after which the caller gives up waiting for the next item of a stream. */
  readonly idleTimeout?: number | undefined
  /** The identity that the caller claims. Accepted in the same process, or from a trusted peer. */
  readonly identity?: Identity | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The trace context of the caller. */
  readonly trace?: TraceContext | undefined
  /** What older peers send instead of `trace`. */
  readonly traceparent?: string | undefined
  /** Items of a stream that may be sent before `call.credit`; without it there is no limit. */
  readonly window?: number | undefined
  /** The caller wants progress events. */
  readonly progress?: boolean | undefined
  /** The caller answers questions: `call.asked` may be sent. */
  readonly canAnswer?: boolean | undefined
  /** What the caller requests from the policies of the operation; it can only restrict them. */
  readonly policy?: CallPolicy | undefined
  /** An operation that stores outcomes runs once for each key. */
  readonly idempotencyKey?: string | undefined
}

/** The result of a call, or one item of a stream. */
export interface CallRespondedEvent {
  readonly type: "call.responded"
  readonly requestId: string
  readonly output: ResponseEnvelope
  /** The number of a stream's item, from 1. */
  readonly seq?: number | undefined
}

/** The end of a stream. */
export interface CallCompletedEvent {
  readonly type: "call.completed"
  readonly requestId: string
  /** How many items there were. */
  readonly seq?: number | undefined
}

/** One side ended the call: the caller left, or the peer cancelled it. */
export interface CallAbortedEvent {
  readonly type: "call.aborted"
  readonly requestId: string
  readonly reason?: string | undefined
}

/** The call failed. */
export interface CallErrorEvent {
  readonly type: "call.error"
  readonly requestId: string
  readonly code: string
  readonly message: string
  readonly details?: unknown
  readonly retryable?: boolean | undefined
  readonly mayHaveExecuted?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  /** Number of attempts, if the call was repeated. */
  readonly attempts?: number | undefined
  /** The message was not written for callers: hide it when you pass the error on. */
  readonly internal?: boolean | undefined
}

/** Progress of the handler, for callers that requested it. */
export interface CallProgressEvent extends ProgressUpdate {
  readonly type: "call.progress"
  readonly requestId: string
}

/** The handler asks its caller for input, if the request has `canAnswer`. */
export interface CallAskedEvent {
  readonly type: "call.asked"
  readonly requestId: string
  /** The number of the question in this call, from 1. */
  readonly question: number
  readonly request: InputRequest
}

/** The answer to a question. Without a response the caller cannot answer it. */
export interface CallAnsweredEvent {
  readonly type: "call.answered"
  readonly requestId: string
  readonly question: number
  readonly response?: InputResponse | undefined
  /** Why there is no response. */
  readonly reason?: string | undefined
}

/** The consumer of a stream took items, and more may be sent. */
export interface CallCreditEvent {
  readonly type: "call.credit"
  readonly requestId: string
  /** The number of the last item that may be sent, so that a repeated event grants nothing more. */
  readonly credit: number
}

/** Any event between a caller and a handler. */
export type CallEvent =
  | CallRequestedEvent
  | CallRespondedEvent
  | CallCompletedEvent
  | CallAbortedEvent
  | CallErrorEvent
  | CallProgressEvent
  | CallAskedEvent
  | CallAnsweredEvent
  | CallCreditEvent

/** The events by their type. */
export type CallEventMap = { readonly [TEvent in CallEvent as TEvent["type"]]: TEvent }

const requestId = { type: "string", minLength: 1, maxLength: ID_LENGTH } as const
const count = { type: "integer", minimum: 0 } as const
const text = { type: "string" } as const
const flag = { type: "boolean" } as const
const question = { type: "integer", minimum: 1 } as const
const milliseconds = { type: "number", minimum: 0 } as const

/** `isResponseEnvelope` as a schema. */
const envelope = {
  type: "object",
  properties: {
    meta: {
      anyOf: [
        source("local", { operationId: text, timestamp: { type: "number" } }),
        source("http", { statusCode: { type: "number" } }),
        source("mcp", { isError: flag, content: { type: "array" } }),
      ],
    },
  },
  required: ["meta"],
  // A void result has no `data`, and nothing else either.
  anyOf: [{ required: ["data"] }, { maxProperties: 1 }],
} as const

function source(name: string, properties: Readonly<Record<string, unknown>>): JsonSchema {
  return {
    type: "object",
    properties: { source: { const: name }, ...properties },
    required: ["source", ...Object.keys(properties)],
  }
}

function event(
  type: CallEvent["type"],
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
): TSchema & JsonSchema {
  return {
    type: "object",
    properties: { type: { const: type }, requestId, ...properties },
    required: ["requestId", ...required],
  }
}

/** The schema of each event by its type. `type` itself is optional here, as the key names it. */
export const CallEventMap: Readonly<Record<CallEvent["type"], TSchema & JsonSchema>> = {
  "call.requested": event(
    "call.requested",
    {
      operationId: { type: "string", minLength: 1, maxLength: OPERATION_ID_LENGTH },
      input: {},
      version: text,
      kind: { type: "string", enum: ["call", "stream", "dry-run"] },
      parentRequestId: text,
      depth: count,
      rootRequestId: requestId,
      deadline: { type: "number" },
      timeout: { type: "number" },
      idleTimeout: milliseconds,
      identity: IdentitySchema,
      metadata: { type: "object" },
      trace: { type: "object" },
      traceparent: text,
      window: count,
      progress: flag,
      canAnswer: flag,
      policy: { type: "object" },
      idempotencyKey: { type: "string", minLength: 1, maxLength: 255 },
    },
    ["operationId"],
  ),
  "call.responded": event("call.responded", { output: envelope, seq: count }, ["output"]),
  "call.completed": event("call.completed", { seq: count }, []),
  "call.aborted": event("call.aborted", { reason: text }, []),
  "call.error": event(
    "call.error",
    {
      code: { type: "string", minLength: 1 },
      message: text,
      details: {},
      retryable: flag,
      mayHaveExecuted: flag,
      retryAfterMs: milliseconds,
      attempts: count,
      internal: flag,
    },
    ["code", "message"],
  ),
  "call.progress": event(
    "call.progress",
    { progress: { type: "number" }, total: { type: "number" }, message: text },
    ["progress"],
  ),
  // Questions and answers are validated where they are used, because a newer peer may know further kinds of
  // questions.
  "call.asked": event("call.asked", { question, request: { type: "object" } }, [
    "question",
    "request",
  ]),
  "call.answered": event(
    "call.answered",
    { question, response: { type: "object" }, reason: text },
    ["question"],
  ),
  "call.credit": event("call.credit", { credit: { type: "integer", minimum: 1 } }, ["credit"]),
}

/** Every event of the protocol. */
export const CallEventSchema: TSchema & JsonSchema = {
  anyOf: Object.values(CallEventMap).map((schema) => ({
    ...schema,
    required: ["type", ...(schema["required"] as readonly string[])],
  })),
}
