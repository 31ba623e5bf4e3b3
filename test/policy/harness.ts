import { createRegistry, isResponseEnvelope, localEnvelope } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  Clock,
  OperationRegistry,
  OperationSpec,
  Resilience,
} from "../../src/index.ts"
import type { PolicyTarget } from "../../src/core/resilience.ts"
import { createPolicies } from "../../src/policy/index.ts"
import type { RegistryPolicies } from "../../src/policy/index.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

/** A registry with policies whose random numbers and state a test can see. */
export interface Guarded extends AsyncDisposable {
  readonly registry: OperationRegistry
  readonly policies: RegistryPolicies
  readonly clock: VirtualClock
}

export interface GuardOptions {
  readonly clock?: VirtualClock
  readonly random?: () => number
  /** As if the operations were imported from another system. */
  readonly isImported?: boolean
  readonly timeout?: number | undefined
}

/** The same policies for all operations, or those of each. */
type Guard = Resilience | "standard" | ((id: string) => Resilience | "standard")

/** A registry in virtual time, of operations with policies. */
export function guarded(
  operations: readonly AnyOperation[],
  resilience: Guard,
  { clock = new VirtualClock(), random = () => 0.5, isImported = true, timeout }: GuardOptions = {},
): Guarded {
  const registry = createRegistry(operations, {
    logger: silentLogger,
    clock,
    ...(timeout !== undefined && { timeout }),
  })
  const policies = guard(registry, resilience, { clock, random, isImported, timeout })
  return {
    registry,
    policies,
    clock,
    async [Symbol.asyncDispose]() {
      policies.close()
      await registry.close()
    },
  }
}

/** Puts policies around all operations of a registry. */
function guard(
  registry: OperationRegistry,
  resilience: Guard,
  {
    clock,
    random,
    isImported = true,
    timeout,
  }: Omit<GuardOptions, "clock"> & { readonly clock: Clock },
): RegistryPolicies {
  const policies = createPolicies({ clock, logger: silentLogger }, random)
  registry.use({
    for: (spec) => {
      const id = `${spec.namespace}.${spec.name}`
      const layer = typeof resilience === "function" ? resilience(id) : resilience
      return policies.for(targetOf(spec, layer, isImported, timeout))
    },
  })
  return policies
}

/** An operation as policies see it. */
export function targetOf(
  spec: OperationSpec,
  layer: Resilience | "standard",
  isImported = true,
  timeout = 30_000,
): PolicyTarget {
  return {
    operationId: `${spec.namespace}.${spec.name}`,
    record: spec,
    spec,
    isIdempotent: spec.annotations?.idempotent ?? spec.type === "query",
    isStream: spec.type === "subscription",
    isImported,
    timeout: spec.type === "subscription" ? Infinity : timeout,
    toEnvelope: (result) =>
      isResponseEnvelope(result) ? result : localEnvelope(result, `${spec.namespace}.${spec.name}`),
    source: spec.namespace,
    layers: [{ from: "definition", settings: layer }],
  }
}

/** Lets time pass while a promise is waited for; returns its outcome. */
export async function settle<TValue>(
  clock: VirtualClock,
  promise: Promise<TValue>,
  milliseconds = 120_000,
): Promise<PromiseSettledResult<TValue>> {
  const outcome = Promise.allSettled([promise])
  await clock.advance(milliseconds)
  const [result] = await outcome
  return result
}
