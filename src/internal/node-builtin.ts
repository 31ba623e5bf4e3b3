/**
 * Loads a module of Node by its name without `node:`. Rejects on platforms that do not have it.
 *
 * The name is completed at run time: otherwise bundlers for platforms without the module would fail on code that
 * never runs there.
 */
export async function nodeBuiltin<TModule>(name: string): Promise<TModule> {
  const module = (await import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`)) as {
    readonly default: TModule
  }
  return module.default
}
