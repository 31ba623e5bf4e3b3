import type { OperationsConfig } from "./model.ts"

/** What a configuration that is a function is told. */
export interface ConfigContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the file. */
  readonly baseDir: string
}

/** A configuration, or what gives one: for what has to be looked up or started first. */
export type ConfigFunction = (
  context: ConfigContext,
) => OperationsConfig | Promise<OperationsConfig>

export type UserConfig = OperationsConfig | ConfigFunction

/**
 * Gives back what it is given, with the types of a configuration.
 *
 * ```ts
 * export default defineConfig({ sources: { tools: { scan: "./operations" } } })
 * ```
 */
export function defineConfig<TConfig extends UserConfig>(config: TConfig): TConfig {
  return config
}
