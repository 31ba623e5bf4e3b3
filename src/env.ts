import type { OperationEnv } from "./infer.ts"
import { reading } from "./internal/read.ts"
import { OperationRegistry } from "./registry.ts"
import type { CallOptions, OperationContext } from "./types.ts"

/** What `buildEnv` takes. */
export interface BuildEnvOptions<TOperations> {
  readonly registry: OperationRegistry<TOperations>
  /**
   * Whose calls these are. A handler's own context makes nested calls; anything else makes calls
   * with that identity, deadline and signal, each with a request id of its own.
   */
  readonly context?: OperationContext | CallOptions | undefined
  /** Only these namespaces exist in the env. All, when left out. */
  readonly allowedNamespaces?: readonly string[] | undefined
}

/**
 * Operations as functions: `env.task.create(input)` gives a promise of an envelope.
 *
 * Nothing is built ahead: the env sees operations that are registered later.
 */
export function buildEnv<TOperations>(
  options: BuildEnvOptions<TOperations>,
): OperationEnv<TOperations> {
  const { registry, context, allowedNamespaces } = reading("buildEnv(options): options", () => ({
    ...options,
  }))
  if (!(registry instanceof OperationRegistry)) {
    throw new TypeError("buildEnv({ registry }): registry must be an OperationRegistry.")
  }
  if (allowedNamespaces !== undefined && !Array.isArray(allowedNamespaces)) {
    throw new TypeError(
      `buildEnv({ allowedNamespaces }): must be an array of namespaces, such as ["task"].`,
    )
  }
  return registry.createEnv(
    context,
    allowedNamespaces === undefined ? undefined : new Set(allowedNamespaces),
  )
}
