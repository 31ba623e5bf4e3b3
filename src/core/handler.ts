import type { OperationCall, OperationEnv, OperationStream } from "./infer.ts"
import type { Logger } from "../internal/logger.ts"
import type { ResponseEnvelope } from "./envelope.ts"
import type { Revalidation } from "./middleware.ts"
import type {
  CallPolicy,
  Identity,
  OperationSpec,
  ProgressUpdate,
  InputRequest,
  InputResponse,
  RegisteredOperations,
} from "./types.ts"
import type { OperationPolicy } from "./operation-settings.ts"

/**
 * The second argument of a handler. The registry creates it; its members cannot be assigned.
 *
 * Costly members (`signal`, `env`, `requestId`) are created when they are first read.
 */
export interface OperationContext<TOperations = RegisteredOperations> {
  readonly requestId: string
  readonly parentRequestId?: string | undefined
  readonly identity?: Identity | undefined
  /** Epoch milliseconds after which the caller no longer waits. */
  readonly deadline?: number | undefined
  /** Aborts when the caller leaves, the deadline passes or a parent is aborted. */
  readonly signal: AbortSignal
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Which attempt of the call this is, from 1: policies and other middleware may repeat it. */
  readonly attempt: number
  /** The caller's idempotency key. */
  readonly idempotencyKey?: string | undefined
  /** The caller's policy options. */
  readonly policy?: CallPolicy | undefined
  /** A result that the caller already has: a handler may report that it has not changed. */
  readonly revalidate?: Revalidation | undefined
  readonly env: OperationEnv<TOperations>
  readonly log: Logger
  /** Calls another operation as a child of this call. */
  readonly call: OperationCall<TOperations>
  /** Reads another operation's stream as a child of this call. */
  readonly subscribe: OperationStream<TOperations>
  readonly progress: (value: ProgressUpdate) => void
  /**
   * Asks the caller for input. Rejects with `UNAVAILABLE` if the caller cannot be asked.
   *
   * Ask before you change anything: a caller without an open connection, such as an MCP client, answers by
   * calling again, and the handler runs from its start.
   */
  readonly requestInput: (request: InputRequest) => Promise<InputResponse>
}

/** Runs a query or mutation. Returns a plain value, or an envelope if it knows the source. */
export type OperationHandler<TInput = unknown, TOutput = unknown, TContext = OperationContext> = (
  input: TInput,
  context: TContext,
) => HandlerResult<TOutput>

/** What a handler returns; error messages of the compiler show its name instead of all that it may be. */
export type HandlerResult<TOutput> = HandlerValue<TOutput> | Promise<HandlerValue<TOutput>>

/** The same without a promise. */
export type HandlerValue<TOutput> = TOutput | ResponseEnvelope<TOutput>

/** Runs a subscription: an async generator function, or anything that returns an async iterable. */
export type SubscriptionHandler<
  TInput = unknown,
  TOutput = unknown,
  TContext = OperationContext,
> = (input: TInput, context: TContext) => AsyncIterable<HandlerValue<TOutput>>

/** A spec with its handler. `defineOperation` returns one with static types. */
// oxlint-disable-next-line typescript/no-explicit-any -- a schema that is not inferred says nothing of the input
export interface IOperationDefinition<TInput = any, TOutput = unknown>
  extends OperationSpec, OperationPolicy {
  // A method's parameters compare both ways, so that `satisfies` lets handlers state their input.
  readonly handler: {
    handle(input: TInput, context: OperationContext): OperationResult<TOutput>
  }["handle"]
}

export type OperationResult<TOutput> = HandlerResult<TOutput> | AsyncIterable<HandlerValue<TOutput>>
