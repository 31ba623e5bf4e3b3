import type { CallOptions } from "../core/types.ts"
import type { AnyRegistry, OperationRegistry } from "./registry.ts"
import type { CallSink } from "./sink.ts"

/** A registry as servers use it: with what ours have beyond `AnyRegistry`, and others may lack. */
export type ServedRegistry = AnyRegistry &
  Partial<
    Pick<
      OperationRegistry,
      | "approvals"
      | "callableIds"
      | "describePolicies"
      | "executeInto"
      | "missing"
      | "onCall"
      | "outlook"
      | "policyState"
      | "trace"
      | "updateIndex"
    >
  >

/** Throws unless the first argument of a function that serves is a registry. */
export function requireRegistry(name: string, registry: unknown): asserts registry is AnyRegistry {
  const given = registry as Partial<Record<"execute" | "registry", unknown>> | null | undefined
  if (typeof given?.execute === "function") return
  const hint =
    given?.registry === undefined ? "" : ` Pass it before the options: ${name}(registry, options).`
  throw new TypeError(`${name}(registry): registry must be an OperationRegistry.${hint}`)
}

/** Runs a call whose outcome goes to a sink. */
export function executeInto(
  registry: ServedRegistry,
  id: string,
  input: unknown,
  sink: CallSink & CallOptions,
): void {
  if (registry.executeInto !== undefined) {
    registry.executeInto(id, input, sink)
    return
  }
  registry.execute(id, input, sink).then(
    (envelope) => sink.succeed(envelope),
    (thrown: unknown) => sink.fail(thrown),
  )
}
