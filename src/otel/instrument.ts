import { requireRegistry } from "../engine/served-registry.ts"
import type { OperationRegistry } from "../engine/registry.ts"
import { validateOptions } from "../internal/options.ts"
import { INSTRUMENT_OPTIONS, type InstrumentOptions } from "./options.ts"
import { OtelTracer } from "./tracer.ts"

/** A registry, or something that has one, such as a hub. */
export type Instrumented =
  | Pick<OperationRegistry, "execute" | "trace">
  | { readonly registry: Pick<OperationRegistry, "execute" | "trace"> }

/** Ends the telemetry of a registry. */
export interface Telemetry {
  /** Calls that start later have no spans and no metrics. You can call it twice. */
  stop(): void
}

const instrumented = new WeakSet<object>()

/**
 * Makes spans and metrics of all calls of a registry or a hub, through `@opentelemetry/api`.
 *
 * Inputs, results, messages and identities are not recorded unless `record` says so. Throws a `TypeError` for a
 * registry that is instrumented already.
 */
export function instrument(target: Instrumented, options: InstrumentOptions = {}): Telemetry {
  const { registry = target } = (target ?? {}) as { readonly registry?: unknown }
  requireRegistry("instrument", registry)
  validateOptions("instrument", options, INSTRUMENT_OPTIONS)
  if (instrumented.has(registry)) {
    throw new TypeError(
      "instrument(registry): this registry is instrumented already. Call stop() of the first telemetry before.",
    )
  }
  const traced = registry as unknown as Pick<OperationRegistry, "trace" | "policyState">
  const tracer = new OtelTracer(options, traced)
  const remove = traced.trace(tracer)
  instrumented.add(registry)
  const stop = (): void => {
    if (!tracer.stop()) return
    remove()
    instrumented.delete(registry)
  }
  return { stop }
}
