import type { EnvelopeStream, OperationId, OutputFor, SubscribeArguments } from "./infer.ts"
import { reading } from "./internal/read.ts"
import type { OperationRegistry } from "./registry.ts"

/** `registry.subscribe` as a function. */
export function subscribe<TOperations, const TId extends OperationId<TOperations>>(
  registry: OperationRegistry<TOperations>,
  id: TId,
  ...args: SubscribeArguments<TOperations, TId>
): EnvelopeStream<OutputFor<TOperations, TId>> {
  if (!isRegistry(registry)) {
    throw new TypeError("subscribe(registry, id): registry must be an OperationRegistry.")
  }
  return registry.subscribe(id, ...args)
}

function isRegistry(value: unknown): boolean {
  return reading(
    "subscribe(registry, id): registry",
    () => typeof (value as { subscribe?: unknown } | undefined)?.subscribe === "function",
  )
}
