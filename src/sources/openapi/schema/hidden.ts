import { isPlainRecord } from "../../../schema/json.ts"
import { isBroken } from "../document.ts"
import type { OpenAPIDocument, SourceFile } from "../document.ts"
import type { View } from "./model.ts"

/** Where a property is left out: bit 1 in inputs, bit 2 in outputs. */
export type Hidden = 0 | 1 | 2 | 3

const MAX_DEPTH = 8

/** The bit of `Hidden` that counts for a view. */
export function hiddenBit(view: View): 1 | 2 {
  return view === "input" ? 1 : 2
}

/** Whether a property is read-only or write-only, also where what it refers to says so. */
export function hiddenOf(
  document: OpenAPIDocument,
  property: unknown,
  file: SourceFile,
  depth = 0,
): Hidden {
  if (!isPlainRecord(property)) return 0
  const { readOnly, writeOnly, $ref, allOf } = property
  let found = (readOnly === true ? 1 : 0) | (writeOnly === true ? 2 : 0)
  if (depth < MAX_DEPTH) {
    if (typeof $ref === "string") {
      const place = document.lookUp($ref, file)
      if (!isBroken(place)) found |= hiddenOf(document, place.value, place.file, depth + 1)
    }
    if (Array.isArray(allOf)) {
      for (const member of allOf) found |= hiddenOf(document, member, file, depth + 1)
    }
  }
  return found as Hidden
}

/** What schemas, taken together, leave out. */
export interface HiddenNames {
  /** In the view that was asked for; `undefined` when there is nothing. */
  readonly names: ReadonlySet<string> | undefined
  /** In the other view it is not the same. */
  readonly dependsOnView: boolean
}

/**
 * Names of the properties that the members of an `allOf` leave out in a view.
 *
 * What one member requires may be what another one declares as read-only.
 */
export function hiddenNames(
  document: OpenAPIDocument,
  schemas: readonly unknown[],
  file: SourceFile,
  bit: 1 | 2,
): HiddenNames {
  let names: Set<string> | undefined
  let dependsOnView = false
  const visit = (schema: unknown, from: SourceFile, depth: number): void => {
    if (!isPlainRecord(schema) || depth > MAX_DEPTH) return
    const { properties, $ref, allOf } = schema
    if (isPlainRecord(properties)) {
      for (const name of Object.keys(properties)) {
        const hidden = hiddenOf(document, properties[name], from)
        if (hidden === 0) continue
        dependsOnView = true
        if ((hidden & bit) !== 0) (names ??= new Set()).add(name)
      }
    }
    if (typeof $ref === "string") {
      const place = document.lookUp($ref, from)
      if (!isBroken(place)) visit(place.value, place.file, depth + 1)
    }
    if (Array.isArray(allOf)) for (const member of allOf) visit(member, from, depth + 1)
  }
  for (const schema of schemas) visit(schema, file, 0)
  return { names, dependsOnView }
}
