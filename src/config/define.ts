import type { OperationsConfig } from "./model.ts"

/** The argument of a configuration that is a function. */
export interface ConfigContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the file. */
  readonly baseDir: string
}

/** Returns a configuration: for values that you have to look up or start first. */
export type ConfigFunction = (
  context: ConfigContext,
) => OperationsConfig | Promise<OperationsConfig>

export type UserConfig = OperationsConfig | ConfigFunction

/**
 * Returns its argument, typed as a configuration.
 *
 * ```ts
 * export default defineConfig({ sources: { tools: { scan: "./operations" } } })
 * ```
 */
export function defineConfig<TConfig extends UserConfig>(config: TConfig): TConfig {
  return config
}
