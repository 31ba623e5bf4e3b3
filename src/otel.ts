// The entry `@alkdev/operations/otel`: spans and metrics of calls through OpenTelemetry.

export { instrument } from "./otel/instrument.ts"
export type { Instrumented, Telemetry } from "./otel/instrument.ts"
export type { ObservedTransport } from "./otel/observed.ts"
export type {
  IncomingTrace,
  InstrumentOptions,
  OutgoingTrace,
  RecordOptions,
  RecordValue,
} from "./otel/options.ts"
