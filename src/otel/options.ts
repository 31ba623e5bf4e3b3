import type { MeterProvider, TracerProvider } from "@opentelemetry/api"
import type { CallEntry, TraceAttributes, TraceDestination, TracedCall } from "../core/tracing.ts"
import type { OptionsSchema } from "../internal/options.ts"
import type { ObservedTransport } from "./observed.ts"

/** How far a caller from outside is believed: it continues its trace, is only linked, or is ignored. */
export type IncomingTrace = "continue" | "link" | "ignore"

/** What leaves with a request: the trace, also the baggage, or nothing. */
export type OutgoingTrace = "trace" | "all" | "none"

/** Decides what is recorded of a value; `undefined`, a promise or a throw records nothing. */
export type RecordValue = (value: unknown, call: { readonly operationId: string }) => unknown

/** What spans contain besides names, codes and durations. All of it is off by default. */
export interface RecordOptions {
  /** `true`: as JSON, secrets masked, at most 4 KiB. */
  readonly inputs?: boolean | RecordValue | undefined
  /** The same for results. */
  readonly outputs?: boolean | RecordValue | undefined
  /** Messages of errors, secrets masked. */
  readonly messages?: boolean | undefined
  /** The id of the caller, as `user.id`. */
  readonly identity?: boolean | undefined
}

/** Options of `instrument`. */
export interface InstrumentOptions {
  /** Default: the global one, which is looked up when the first call comes. */
  readonly tracerProvider?: TracerProvider | undefined
  readonly meterProvider?: MeterProvider | undefined
  /** `"outermost"` makes no spans for nested calls and requests, `"none"` only carries the trace on. Default: `"all"`. */
  readonly spans?: "all" | "outermost" | "none" | undefined
  /**
   * How far callers from outside are believed. By default callers without an identity are only linked, unless they are
   * parts of the application.
   */
  readonly incoming?:
    | IncomingTrace
    | ((
        entry: CallEntry,
        call: Pick<TracedCall, "operationId" | "identity" | "via">,
      ) => IncomingTrace)
    | undefined
  /** Default: `"all"` to registries in other processes, `"trace"` to APIs and MCP servers. */
  readonly outgoing?: OutgoingTrace | ((to: TraceDestination) => OutgoingTrace) | undefined
  readonly record?: RecordOptions | undefined
  /** Patterns of operation ids without spans and metrics, such as `services.*`. */
  readonly ignore?: readonly string[] | undefined
  /** `operations`: how many operation ids have series of their own; further ones share `_OTHER`. Default: 1000. */
  readonly metrics?: boolean | { readonly operations?: number | undefined } | undefined
  /** Transports over NATS or Redis by a name, for metrics of their statistics. */
  readonly transports?: Readonly<Record<string, ObservedTransport>> | undefined
  /** Adds attributes to the span of a call when it starts. */
  readonly attributes?: ((call: TracedCall) => TraceAttributes) | undefined
}

const VALUE = { either: ["boolean", "function"] } as const

export const INSTRUMENT_OPTIONS: OptionsSchema<InstrumentOptions> = {
  tracerProvider: { methods: ["getTracer"], expected: "a TracerProvider" },
  meterProvider: { methods: ["getMeter"], expected: "a MeterProvider" },
  spans: { oneOf: ["all", "outermost", "none"] },
  incoming: { either: [{ oneOf: ["continue", "link", "ignore"] }, "function"] },
  outgoing: { either: [{ oneOf: ["trace", "all", "none"] }, "function"] },
  record: { members: { inputs: VALUE, outputs: VALUE, messages: "boolean", identity: "boolean" } },
  ignore: { list: "text" },
  metrics: { either: ["boolean", { members: { operations: "count" } }] },
  transports: { record: { methods: ["stats"], expected: "a transport with stats()" } },
  attributes: "function",
}
