import { SOURCES, type SourceConfig, type SourceKind } from "../../src/config/kinds/index.ts"

/** The name of a source that has none, whether it is valid or not. */
export function sourceName(source: SourceConfig): string {
  const kinds = Object.keys(SOURCES) as readonly SourceKind[]
  const kind = kinds.find((one) => Object.hasOwn(source, one)) as SourceKind
  return SOURCES[kind].nameOf(source)
}
