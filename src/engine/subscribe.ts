import type {
  EnvelopeStream,
  OperationId,
  OutputFor,
  CallArguments,
  Subscribable,
} from "../core/infer.ts"
import { reading } from "../internal/brands.ts"
import type { AnyRegistry, OperationRegistry } from "./registry.ts"
import type { CallOptions } from "../core/types.ts"

/** `registry.subscribe` as a function. */
export function subscribe<TOperations, const TId extends OperationId<TOperations>>(
  this: Subscribable<TOperations, TId>,
  registry: OperationRegistry<TOperations>,
  id: TId,
  ...args: CallArguments<TOperations, TId>
): EnvelopeStream<OutputFor<TOperations, TId>> {
  if (!isRegistry(registry)) {
    throw new TypeError("subscribe(registry, id): registry must be an OperationRegistry.")
  }
  const [input, context] = args as readonly [unknown?, CallOptions?]
  const any: AnyRegistry = registry
  return any.subscribe(id, input, context) as EnvelopeStream<OutputFor<TOperations, TId>>
}

function isRegistry(value: unknown): boolean {
  return reading(
    "subscribe(registry, id): registry",
    () => typeof (value as { subscribe?: unknown } | undefined)?.subscribe === "function",
  )
}
