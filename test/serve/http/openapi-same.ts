import { isDeepStrictEqual } from "node:util"
import { isNoValue } from "../../../src/schema/json.ts"

/** A schema, and where its references lead. */
interface Rooted {
  readonly schema: unknown
  readonly root: unknown
}

type Raw = Readonly<Record<string, unknown>>

const ONE = new Set(["items", "additionalProperties", "not", "contains", "propertyNames"])
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
const MAPS = new Set(["properties", "patternProperties", "dependentSchemas"])
/** Names of definitions, which nobody calls by name. */
const UNSAID = new Set(["$defs", "$id", "$schema"])

/**
 * Where two schemas are not the same word for word; `undefined` when they are.
 *
 * A reference stands for what it leads to, so that a schema may be written out in one and shared in the
 * other. Loops are compared once.
 */
export function schemaDifference(before: unknown, after: unknown): string | undefined {
  return differ({ schema: before, root: before }, { schema: after, root: after }, "", new Map())
}

/** The same for a part of the second one, by its keys. */
export function partDifference(
  before: unknown,
  after: unknown,
  ...keys: readonly string[]
): string | undefined {
  const part = keys.reduce<unknown>((at, key) => (at as Raw)[key], after)
  return differ({ schema: before, root: before }, { schema: part, root: after }, "", new Map())
}

function differ(
  left: Rooted,
  right: Rooted,
  path: string,
  seen: Map<unknown, Set<unknown>>,
): string | undefined {
  const one = settled(left)
  const other = settled(right)
  if (isNoValue(one) && isNoValue(other)) return undefined
  const known = seen.get(one) ?? new Set()
  if (known.has(other)) return undefined
  seen.set(one, known.add(other))
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (UNSAID.has(key)) continue
    const at = `${path}/${key}`
    const pair = [one[key], other[key]] as const
    const isMap = MAPS.has(key)
    const steps = isMap || LISTS.has(key) ? pair.map((value) => Object.keys(value ?? {})) : [[], []]
    if (isMap) steps.forEach((names) => names.sort())
    if (!isDeepStrictEqual(steps[0], steps[1])) return at
    const inner = ONE.has(key) ? [undefined] : (steps[0] as readonly string[])
    for (const step of inner) {
      const [was, is] = pair.map((value) => (step === undefined ? value : (value as Raw)[step]))
      if (was === undefined || is === undefined) return at
      const found = differ(
        { ...left, schema: was },
        { ...right, schema: is },
        step === undefined ? at : `${at}/${step}`,
        seen,
      )
      if (found !== undefined) return found
    }
    const isData = !isMap && !LISTS.has(key) && !ONE.has(key)
    // Nothing is required either way.
    const [was, is] = key === "required" ? pair.map((value) => value ?? []) : pair
    if (isData && !isDeepStrictEqual(was, is)) return at
  }
  return undefined
}

const TRUE = {}
const FALSE = { not: TRUE }

/** What a schema says once its references are followed. */
function settled({ schema, root }: Rooted): Raw {
  let at = schema
  for (let hops = 0; hops < 100; hops++) {
    if (typeof at === "boolean") return at ? TRUE : FALSE
    const { $ref, $defs: _, ...others } = at as Raw
    if (typeof $ref !== "string" || Object.keys(others).length > 0) return at as Raw
    at = lookUp($ref, root)
  }
  throw new Error("A reference leads back to itself.")
}

function lookUp(ref: string, root: unknown): unknown {
  let at = root
  for (const token of ref.split("/").slice(1)) {
    const name = decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~")
    at = (at as Raw)[name]
  }
  return at
}
