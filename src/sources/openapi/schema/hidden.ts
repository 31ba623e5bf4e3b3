import { isRecord } from "../../../internal/guards.ts"
import { isBroken, lookUp, type SourceFile } from "../document.ts"
import type { View } from "./definition.ts"

/** Where a property is hidden: bit 1 in inputs, bit 2 in outputs. */
export type Hidden = 0 | 1 | 2 | 3

const MAX_DEPTH = 8

/** The bit of `Hidden` for a view. */
export function hiddenBit(view: View): 1 | 2 {
  return view === "input" ? 1 : 2
}

/** Whether a property is read-only or write-only, also by its reference. */
export function hiddenOf(property: unknown, file: SourceFile, depth = 0): Hidden {
  if (!isRecord(property)) return 0
  const { readOnly, writeOnly, $ref, allOf } = property
  let flags = (readOnly === true ? 1 : 0) | (writeOnly === true ? 2 : 0)
  if (depth < MAX_DEPTH) {
    if (typeof $ref === "string") {
      const place = lookUp($ref, file)
      if (!isBroken(place)) flags |= hiddenOf(place.value, place.file, depth + 1)
    }
    if (Array.isArray(allOf)) {
      for (const member of allOf) flags |= hiddenOf(member, file, depth + 1)
    }
  }
  return flags as Hidden
}

/** The hidden properties of several schemas. */
export interface HiddenNames {
  /** Those of the requested view; `undefined` if there are none. */
  readonly names: ReadonlySet<string> | undefined
  /** The other view differs. */
  readonly dependsOnView: boolean
}

/**
 * Names of the properties that the members of an `allOf` hide in a view.
 *
 * One member may require a property that another declares as read-only.
 */
export function hiddenNames(
  schemas: readonly unknown[],
  file: SourceFile,
  bit: 1 | 2,
): HiddenNames {
  let names: Set<string> | undefined
  let dependsOnView = false
  const visit = (schema: unknown, from: SourceFile, depth: number): void => {
    if (!isRecord(schema) || depth > MAX_DEPTH) return
    const { properties, $ref, allOf } = schema
    if (isRecord(properties)) {
      for (const name of Object.keys(properties)) {
        const hidden = hiddenOf(properties[name], from)
        if (hidden === 0) continue
        dependsOnView = true
        if ((hidden & bit) !== 0) (names ??= new Set()).add(name)
      }
    }
    if (typeof $ref === "string") {
      const place = lookUp($ref, from)
      if (!isBroken(place)) visit(place.value, place.file, depth + 1)
    }
    if (Array.isArray(allOf)) for (const member of allOf) visit(member, from, depth + 1)
  }
  for (const schema of schemas) visit(schema, file, 0)
  return { names, dependsOnView }
}
