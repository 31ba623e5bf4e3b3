import type { OperationEnv } from "../core/infer.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import type { OperationRegistry } from "./registry.ts"
import type { CallOptions } from "../core/types.ts"
import type { OperationContext } from "../core/handler.ts"

/** The options of `buildEnv`. */
export interface BuildEnvOptions<TOperations> {
  readonly registry: OperationRegistry<TOperations>
  /**
   * The context of the calls. A handler's own context makes nested calls; other options make calls
   * with their identity, deadline and signal, each with its own request id.
   */
  readonly context?: OperationContext | CallOptions | undefined
  /** Only these namespaces exist in the env; all by default. */
  readonly allowedNamespaces?: readonly string[] | undefined
}

export const BUILD_ENV_OPTIONS: OptionsSchema<BuildEnvOptions<unknown>> = {
  registry: { required: { methods: ["createEnv"], expected: "an OperationRegistry" } },
  context: { methods: [], expected: "the context of a handler, or options of a call" },
  allowedNamespaces: { list: "text" },
}

/**
 * Operations as functions: `env.task.create(input)` returns a promise of an envelope.
 *
 * Nothing is built in advance: the env includes operations that are registered later.
 */
export function buildEnv<TOperations>(
  options: BuildEnvOptions<TOperations>,
): OperationEnv<TOperations> {
  validateOptions("buildEnv", options, BUILD_ENV_OPTIONS)
  const { registry, context, allowedNamespaces } = options
  return registry.createEnv(
    context,
    allowedNamespaces === undefined ? undefined : new Set(allowedNamespaces),
  )
}
