import { join } from "node:path"
import { SOURCES, type SourceConfig, type SourceKind } from "../../src/config/kinds/index.ts"
import type { ResolvedConfig, ResolvedSource } from "../../src/config/model.ts"

export const ROOT = join(import.meta.dirname, "../..")
export const EVERYTHING = join(
  ROOT,
  "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
)

/** A source as the configuration settles it. */
export function sourceOf(
  name: string,
  config: SourceConfig,
  more: Partial<ResolvedSource> = {},
): ResolvedSource {
  const kinds = Object.keys(SOURCES) as readonly SourceKind[]
  const kind = kinds.find((one) => Object.hasOwn(config, one)) as SourceKind
  return {
    name,
    kind,
    namespace: config.namespace ?? name,
    include: undefined,
    exclude: [],
    rename: {},
    visibility: undefined,
    access: [],
    disabled: false,
    config,
    ...more,
  }
}

export function configOf(
  sources: readonly ResolvedSource[],
  more: Partial<ResolvedConfig> = {},
): ResolvedConfig {
  return { sources, server: {}, registry: {}, baseDir: ROOT, file: undefined, ...more }
}
