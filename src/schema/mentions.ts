import { isObject } from "../internal/guards.ts"
import { perObject } from "../internal/per-object.ts"
import { FILE_MARK } from "./files.ts"
import { definitionsOf, type DefinitionSource } from "./trusted-schemas.ts"

/** Where the definitions of an admitted schema are. */
export const DEFS = "#/$defs/"

/** What a schema mentions, but not in definitions that are read one by one. */
interface Mentions {
  /** The names of definitions. */
  names?: Set<string>
  /** A keyword of files. */
  hasFiles: boolean
  /** The same, or one in the definitions that it needs. */
  needsFiles?: boolean
}

const mentionsOf = perObject((schema: object) => {
  const found: Mentions = { hasFiles: false }
  const waiting = [schema as Readonly<Record<string, unknown>>]
  for (const node of waiting) {
    const { $ref, format, contentEncoding } = node
    if (typeof $ref === "string" && $ref.startsWith(DEFS)) {
      found.names ??= new Set()
      found.names.add($ref.slice(DEFS.length))
    }
    found.hasFiles ||= format === "binary" || contentEncoding === "base64" || FILE_MARK in node
    for (const key of Object.keys(node)) {
      if (key === "$defs" && node === schema && definitionsOf(schema) !== undefined) continue
      const value = node[key]
      if (isObject(value)) waiting.push(value as typeof node)
    }
  }
  return found
})

/** All definitions that a schema needs, by name, if they are read one by one. */
export function neededBy(
  schema: object,
  source: DefinitionSource | undefined = definitionsOf(schema),
): Map<string, unknown> {
  const needed = new Map<string, unknown>()
  const waiting: object[] = source === undefined ? [] : [schema]
  for (const node of waiting) {
    for (const name of mentionsOf(node).names ?? []) {
      if (needed.has(name)) continue
      const definition = source?.get(name)
      needed.set(name, definition)
      if (isObject(definition)) waiting.push(definition)
    }
  }
  return needed
}

/** Whether a schema may have files. A view knows it exactly, but takes many times as long. */
export function mayHaveFiles(schema: object): boolean {
  const own = mentionsOf(schema)
  const inNeeded = (): boolean =>
    [...neededBy(schema).values()].some((one) => isObject(one) && mentionsOf(one).hasFiles)
  return (own.needsFiles ??= own.hasFiles || inNeeded())
}
