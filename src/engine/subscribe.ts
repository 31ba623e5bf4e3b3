import type {
  AnyString,
  Callable,
  CallArguments,
  EnvelopeStream,
  KnownId,
  OutputIn,
  Subscribable,
} from "../core/infer.ts"
import { reading } from "../internal/brands.ts"
import type { AnyRegistry, OperationRegistry } from "./registry.ts"
import type { CallOptions } from "../core/types.ts"

/** `registry.subscribe` as a function. */
export function subscribe<
  TOperations,
  const TId extends KnownId<TOperations> | AnyString,
  TShape = Subscribable<TOperations, TId>,
>(
  registry: OperationRegistry<TOperations>,
  id: TId & Callable<NoInfer<TShape>>,
  ...args: CallArguments<NoInfer<TShape>>
): EnvelopeStream<OutputIn<TShape>> {
  if (!isRegistry(registry)) {
    throw new TypeError("subscribe(registry, id): registry must be an OperationRegistry.")
  }
  const [input, context] = args as readonly [unknown?, CallOptions?]
  const any: AnyRegistry = registry
  return any.subscribe(id, input, context) as EnvelopeStream<OutputIn<TShape>>
}

function isRegistry(value: unknown): boolean {
  return reading(
    "subscribe(registry, id): registry",
    () => typeof (value as { subscribe?: unknown } | undefined)?.subscribe === "function",
  )
}
