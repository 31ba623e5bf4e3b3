import type { ResponseEnvelope } from "./envelope.ts"
import type { EnvelopeStream } from "./infer.ts"
import type { CallApproval } from "./approvals.ts"
import type { TraceAttributes } from "./tracing.ts"
import type { CallOptions, CallPolicy, CallWay, Identity, OperationSpec } from "./types.ts"
import { typeName } from "../internal/message-text.ts"
import type { Logger } from "../internal/logger.ts"
import type { OptionsSchema } from "../internal/options.ts"

/** A call as middleware sees it. Its members cannot be assigned. */
export interface MiddlewareCall {
  readonly operationId: string
  readonly spec: OperationSpec
  /** Repeating the call has no further effect: a query, or an operation that is declared idempotent. */
  readonly isIdempotent: boolean
  readonly requestId: string
  readonly parentRequestId: string | undefined
  /** A frozen copy; `undefined` for anonymous callers. */
  readonly identity: Identity | undefined
  /** As the handler gets it: validated, with its defaults. */
  readonly input: unknown
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** Epoch milliseconds after which the caller no longer waits; `undefined` if there is no limit. */
  readonly deadline: number | undefined
  /** Milliseconds until the deadline, by the registry's clock; `Infinity` if there is no limit. */
  readonly remainingMs: number
  /** Aborts when the caller leaves, the deadline passes, a parent is aborted or the registry is closed. */
  readonly signal: AbortSignal
  /** Counts from 1. Above 1 if a middleware further out has called `next` before. */
  readonly attempt: number
  readonly log: Logger
  /** The caller's policy options. */
  readonly policy: CallPolicy | undefined
  /** The caller's idempotency key. */
  readonly idempotencyKey: string | undefined
  /** Reports progress to the caller, as handlers do. */
  readonly progress: NonNullable<CallOptions["progress"]>
  /** Asks the caller, as handlers do. The call's clock stops meanwhile. */
  readonly requestInput: NonNullable<CallOptions["requestInput"]>
  /** How the outermost call came; `call` for the application's own code. */
  readonly via: CallWay
  /** @internal What the client of the outermost call says that it is. */
  readonly program?: "console" | undefined
  /** Another call of this registry made it. A program that an agent wrote counts as a caller, not as a call. */
  readonly isNested: boolean
  /** The application itself calls: with `registry.trusted`, or an operation that lists this one in `composes`. */
  readonly trusted: boolean
  /** What `approvals` decided, and who approved the call; `undefined` if no rule concerns the operation. */
  readonly approval: CallApproval | undefined
  /** @internal Notes what was decided. */
  noteApproval?(approval: CallApproval): void
  /** @internal The same object for all middleware of the call, and for what records it. */
  readonly key?: object
  /** @internal Notes that another call may do the work for this one, which goes on when its caller leaves. */
  noteShared?(): void
  /** @internal Reports to tracers what a policy does with the call. */
  event?(name: string, attributes: TraceAttributes): void
  /** @internal Whether the call was made under the call with this id. */
  isUnder?(requestId: string): boolean
}

/** What is different for one attempt. Absent members stay the same. */
export interface Change {
  /** Another input; it is validated like the caller's. */
  readonly input?: unknown
  /** Milliseconds after which this attempt ends with `TIMEOUT`. The deadline of the call still applies. */
  readonly timeout?: number | undefined
  /** Ends this attempt with `ABORTED`. So does the caller's own signal. */
  readonly signal?: AbortSignal | undefined
  /**
   * Work that several callers share: it has the identity of this caller, and continues when this caller leaves.
   * It ends with its own `timeout`, `signal`, or with the registry. Without a `timeout`, that of the operation counts.
   */
  readonly detached?: boolean | undefined
  /** Added to the metadata of the call; the handler reads both in `context.metadata`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** A result that is already known: a handler may report that it has not changed, with the HTTP status 304. */
  readonly revalidate?: Revalidation | undefined
  /** Receives the progress of this attempt instead of the caller. Without it, detached work reports none. */
  readonly progress?: CallOptions["progress"]
  /** Answers the questions of this attempt instead of the caller. Without it, detached work cannot ask. */
  readonly requestInput?: CallOptions["requestInput"]
}

/** The validators of a result that a cache holds. */
export interface Revalidation {
  /** The `etag` of the result. */
  readonly etag?: string | undefined
  /** Its `last-modified` date. */
  readonly lastModified?: string | undefined
}

/**
 * Runs the rest: the middleware further in, the handler, and the result pipeline.
 *
 * Each call of it is an attempt, and any number is allowed, also none. Rejects with a `CallError`.
 */
export type Next = (change?: Change) => Promise<ResponseEnvelope>

/** The same for a stream. Nothing runs before the first item is requested. */
export type StreamNext = (change?: Change) => EnvelopeStream

/** Middleware for queries and mutations. It returns an envelope: that of `next`, or another one. */
export type MiddlewareFunction = (call: MiddlewareCall, next: Next) => Promise<ResponseEnvelope>

/**
 * Can change the outcome of calls. Runs after the access and input checks, around the handler and the result
 * pipeline.
 */
export interface Middleware {
  /**
   * Called once for each operation, at its first call. Returns the middleware for it, or `undefined`; the
   * operation then has no overhead.
   */
  for?(spec: OperationSpec): Middleware | MiddlewareFunction | undefined
  /** Runs around queries and mutations. */
  call?: MiddlewareFunction | undefined
  /** Runs around subscriptions, when the first item is requested. */
  stream?: ((call: MiddlewareCall, next: StreamNext) => AsyncIterable<ResponseEnvelope>) | undefined
}

/** For which operations a middleware is used, and under which name. */
export interface MiddlewareOptions {
  /** Ids (`"task.create"`), namespaces (`"task.*"`) or `"*"`; all operations by default. */
  readonly match?: string | readonly string[] | undefined
  /** For messages; by default the name of the function. */
  readonly name?: string | undefined
}

export const MIDDLEWARE_OPTIONS: OptionsSchema<MiddlewareOptions> = {
  match: { either: ["text", { list: "text" }] },
  name: "text",
}

/** Why a value is not a middleware; `undefined` if it is one. */
export function middlewareIssue(value: unknown): string | undefined {
  if (typeof value === "function") return undefined
  const { for: choose, call, stream } = (value ?? {}) as Partial<Record<keyof Middleware, unknown>>
  const members = [choose, call, stream].filter((member) => member !== undefined)
  if (members.length > 0 && members.every((member) => typeof member === "function")) {
    return undefined
  }
  return `must be a function (call, next), or an object with the functions call, stream or for, got ${typeName(value)}`
}
