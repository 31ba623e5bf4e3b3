import type { ResolvedConfig } from "../../config.ts"
import type { Hub } from "../../hub/model.ts"
import { compilePattern } from "../../internal/pattern.ts"

/**
 * Warnings about policies and middleware for operations that do not exist. None while a source is not open: its
 * operations may be the ones.
 */
export function unmatchedWarnings(config: ResolvedConfig, hub: Hub): string[] {
  if (hub.sources.some(({ state }) => state !== "ready" && state !== "disabled")) return []
  const ids = hub.registry.list().map(({ namespace, name }) => `${namespace}.${name}`)
  const warn = (key: string, entries: readonly { readonly match?: unknown }[] = []): string[] =>
    entries.flatMap(({ match }, index) =>
      patternsOf(match)
        .filter((pattern) => !ids.some(compilePattern(pattern)))
        .map((pattern) => `${key}[${index}]: no operation matches "${pattern}".`),
    )
  return [...warn("policies", config.policies), ...warn("middleware", config.middleware)]
}

function patternsOf(match: unknown): readonly string[] {
  if (match === undefined) return []
  return (Array.isArray(match) ? match : [match]) as readonly string[]
}
