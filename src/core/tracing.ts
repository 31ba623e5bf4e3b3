import type { ResponseEnvelope } from "./envelope.ts"
import type { CallError } from "./errors.ts"
import type { CallOptions, CallWay, Identity, OperationType } from "./types.ts"

/** The W3C trace context of a call, as it is sent. */
export interface TraceContext {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

/** Values that describe a span or an event. */
export type TraceAttributes = Readonly<Record<string, string | number | boolean>>

/** What a server adds about an outermost call that it received. */
export interface CallEntry {
  /** Anybody who reaches its address can send a call; otherwise only parts of the application can. */
  readonly isPublic: boolean
  /** What the sender says that it is; anybody who reaches the address can say so. */
  readonly program?: "console" | undefined
  /** A name for the call instead of its operation id, such as `tools/call pets_get`. */
  readonly name?: string | undefined
  readonly attributes?: TraceAttributes | undefined
}

/** A call that starts, as tracers see it. */
export interface TracedCall {
  readonly operationId: string
  /** Absent for a call that was refused before its operation was found. */
  readonly type: OperationType | undefined
  readonly requestId: string | undefined
  readonly parentRequestId: string | undefined
  /** The scope of the nearest call that led to this one and that this tracer follows. */
  readonly parent: CallScope | undefined
  /** How the outermost call came. */
  readonly via: CallWay
  /** `undefined` for nested calls, and for those that no server received. */
  readonly entry: CallEntry | undefined
  /** What the sender of an outermost call sent; malformed values are left out. */
  readonly trace: TraceContext | undefined
  /** The id of the trace that the call belongs to, by another tracer or by what was sent. Read it before the call ends. */
  readonly traceId: string | undefined
  /** As the caller passed it, before any check. */
  readonly identity: Identity | undefined
  /** As the caller passed it, before any check. It may be secret. */
  readonly input: unknown
}

/** How a call, or an exchange of it with another system, ended. */
export interface CallOutcome {
  /** `aborted`: the caller did not wait for the end. */
  readonly outcome: "ok" | "error" | "aborted"
  /** The error; absent where an MCP tool reports a failure as its result. Its message may be secret. */
  readonly error?: CallError | undefined
  /** The result of a query or mutation. It may be secret. */
  readonly envelope?: ResponseEnvelope | undefined
  /** Number of items of a stream. */
  readonly items: number
  /** What became known of an exchange, such as its status. */
  readonly attributes?: TraceAttributes | undefined
}

/** Where a request leaves to: an HTTP API, an MCP server, or a registry in another process. */
export type TraceDestination = "http" | "mcp" | "remote"

/** The fields by which log lines name the span they belong to. */
export interface TraceFields {
  readonly trace_id: string
  readonly span_id: string
  readonly trace_flags: string
}

/** What a tracer keeps for one call. Nothing that its members return or throw changes the call. */
export interface CallScope {
  /** Runs `work` at once, and returns what it returns: the checks, the handler, each pull of a stream. */
  run<T>(work: () => T): T
  /** The call has ended. Called once. */
  end(outcome: CallOutcome): void
  /** A stream has given an item. */
  item?(): void
  /** A policy did something: retried, answered from a cache, made the call wait. */
  event?(name: string, attributes: TraceAttributes): void
  /** The handler has written a line to `context.log`. Its text may be secret. */
  log?(level: string, message: string): void
  /** The trace context for a request that leaves. */
  carrier?(to: TraceDestination): TraceContext | undefined
  /** The scope of an exchange with another system. */
  child?(name: string, to: TraceDestination, attributes: TraceAttributes): CallScope | undefined
  /** For log lines of the call. */
  fields?(): TraceFields | undefined
}

/** Observes calls from outside of all checks: see `registry.trace`. */
export interface CallTracer {
  /** A call starts; returns its scope, or `undefined` to leave it out. */
  begin(call: TracedCall): CallScope | undefined
  /** A call was refused because its operation does not exist, or is of another type. */
  refused?(call: TracedCall, error: CallError): void
}

/** What carries a trace on: the context of a handler has it, and so has a call on behalf of one. */
export interface CarriesTrace {
  readonly tracing?: CallTracing | undefined
}

/** The tracing of one call, for what leaves. */
export interface CallTracing {
  carrier(to: TraceDestination): TraceContext | undefined
  child(name: string, to: TraceDestination, attributes: TraceAttributes): CallScope | undefined
}

/** Options of a call that a server received. */
export interface FromEntry {
  readonly entry?: CallEntry | undefined
}

const PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/
/** Text that a header can carry. */
const PRINTABLE = /^[ -~]+$/
const MAX_BAGGAGE = 8192
const MAX_STATE = 512
const MAX_MEMBERS = 32

/** Reads a trace context; values that are malformed or longer than W3C allows are left out. */
export function readTrace(read: (name: keyof TraceContext) => unknown): TraceContext | undefined {
  const traceparent = textOf(read("traceparent"), MAX_STATE)
  const baggage = textOf(read("baggage"), MAX_BAGGAGE)
  if (traceparent === undefined || !isParent(traceparent)) {
    return baggage === undefined ? undefined : { baggage }
  }
  const tracestate = textOf(read("tracestate"), MAX_STATE)
  const hasState = tracestate !== undefined && tracestate.split(",").length <= MAX_MEMBERS
  return { traceparent, ...(hasState && { tracestate }), ...(baggage && { baggage }) }
}

/** The trace context in the metadata of a call, or in `_meta` of an MCP message. */
export function traceIn(metadata: CallOptions["metadata"]): TraceContext | undefined {
  // The options of a caller in this process have not been checked yet.
  if (typeof metadata !== "object" || metadata === null) return undefined
  return readTrace((name) => (Object.hasOwn(metadata, name) ? metadata[name] : undefined))
}

/** The rest of the metadata, for a request whose trace context is sent separately; `undefined` if there is none. */
export function withoutTrace(metadata: CallOptions["metadata"]): CallOptions["metadata"] {
  const { traceparent, tracestate, baggage, ...rest } = metadata ?? {}
  const hasTrace = traceparent !== undefined || tracestate !== undefined || baggage !== undefined
  if (!hasTrace) return metadata
  return Object.keys(rest).length === 0 ? undefined : rest
}

function isParent(text: string): boolean {
  return PARENT.test(text) && (text.length === 55 || !text.startsWith("00"))
}

function textOf(value: unknown, max: number): string | undefined {
  const isText = typeof value === "string" && value.length <= max && PRINTABLE.test(value)
  return isText ? value : undefined
}

/** The trace context for a request that leaves on behalf of a context. */
export function carrierOf(
  context: (CarriesTrace & Pick<CallOptions, "metadata">) | undefined,
  to: TraceDestination,
): TraceContext | undefined {
  return context?.tracing === undefined ? traceIn(context?.metadata) : context.tracing.carrier(to)
}

/** Reports attributes of an exchange, once they are known. */
export type NoteAttributes = (attributes: TraceAttributes) => void

/** Runs an exchange with another system in a scope of its own, if a tracer follows the call. */
export async function traceExchange<T>(
  context: (CarriesTrace & Pick<CallOptions, "metadata">) | undefined,
  name: string,
  to: TraceDestination,
  attributes: TraceAttributes,
  work: (carrier: TraceContext | undefined, note: NoteAttributes) => Promise<T>,
): Promise<T> {
  const scope = context?.tracing?.child(name, to, attributes)
  if (scope === undefined) return await work(carrierOf(context, to), () => undefined)
  let noted: TraceAttributes = {}
  try {
    const carrier = scope.carrier?.(to) ?? carrierOf(context, to)
    const result = await scope.run(() => work(carrier, (more) => (noted = { ...noted, ...more })))
    scope.end({ outcome: "ok", items: 0, attributes: noted })
    return result
  } catch (thrown) {
    scope.end({ ...failureOf(thrown), items: 0, attributes: noted })
    throw thrown
  }
}

function failureOf(thrown: unknown): Pick<CallOutcome, "outcome" | "error"> {
  const error = thrown as CallError
  return { outcome: error?.code === "ABORTED" ? "aborted" : "error", error }
}

/** The same for a stream, from its first pull to its end. */
export function traceStream<T>(
  context: (CarriesTrace & Pick<CallOptions, "metadata">) | undefined,
  name: string,
  to: TraceDestination,
  attributes: TraceAttributes,
  open: (carrier: TraceContext | undefined) => AsyncIterable<T>,
): AsyncIterable<T> {
  const scope = context?.tracing?.child(name, to, attributes)
  if (scope === undefined) return open(carrierOf(context, to))
  let items = 0
  let isOver = false
  const end = (ended: Pick<CallOutcome, "outcome" | "error">): void => {
    if (!isOver) scope.end({ ...ended, items })
    isOver = true
  }
  const follow = async (pull: () => Promise<IteratorResult<T>>): Promise<IteratorResult<T>> => {
    try {
      const result = await scope.run(pull)
      if (result.done === true) end({ outcome: "ok" })
      else items++
      return result
    } catch (thrown) {
      end(failureOf(thrown))
      throw thrown
    }
  }
  const source = open(scope.carrier?.(to) ?? carrierOf(context, to))[Symbol.asyncIterator]()
  const iterator: AsyncIterator<T> = {
    next: () => follow(() => source.next()),
    return: async (value) => {
      end({ outcome: "aborted" })
      return (await source.return?.(value)) ?? { done: true, value }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
