/** Maximum nesting of a document. Real ones have about twenty levels. */
export const MAX_DEPTH = 1000

/**
 * Whether a value is nested deeper than `MAX_DEPTH`, or contains itself.
 *
 * Checks at most `budget` objects, so that a large document costs no more than a small one.
 */
export function isDeep(value: unknown, budget: number): boolean {
  let left = budget
  const visit = (node: unknown, depth: number): boolean => {
    if (typeof node !== "object" || node === null || left-- <= 0) return false
    if (depth > MAX_DEPTH) return true
    if (Array.isArray(node)) {
      // Most lists contain strings: avoid calls for those.
      for (const item of node as unknown[]) {
        if (typeof item === "object" && visit(item, depth + 1)) return true
      }
      return false
    }
    // In a parsed document, every enumerable property is an own one.
    for (const key in node) {
      const item = (node as Record<string, unknown>)[key]
      if (typeof item === "object" && visit(item, depth + 1)) return true
    }
    return false
  }
  return visit(value, 0)
}

/** Maximum number of objects to check in an example or other data. */
const MAX_DATA = 100_000

/** Whether data is nested too deep to be printed. */
export function isTooDeepToPrint(value: unknown): boolean {
  return typeof value === "object" && value !== null && isDeep(value, MAX_DATA)
}

/** The size of a value if each shared part were written out at every use. */
export type Expansion =
  | { readonly kind: "tree"; readonly written: number; readonly expanded: number }
  | { readonly kind: "cycle" }
  | { readonly kind: "deep" }

/** Counts the values of a document, with shared parts once and expanded. */
export function measureExpansion(value: unknown): Expansion {
  const measured = new Map<object, { size: number; height: number }>()
  let written = 0
  let failure: "cycle" | "deep" | undefined
  const visit = (node: unknown, depth: number): { size: number; height: number } => {
    if (typeof node !== "object" || node === null) {
      written++
      return LEAF
    }
    const seen = measured.get(node)
    if (seen === OPEN) failure = "cycle"
    const height = seen?.height ?? 0
    if (depth + height > MAX_DEPTH) failure ??= "deep"
    if (seen !== undefined || failure !== undefined) return seen ?? LEAF
    measured.set(node, OPEN)
    written++
    const result = { size: 1, height: 0 }
    for (const item of Object.values(node)) {
      const inner = visit(item, depth + 1)
      if (failure !== undefined) return LEAF
      result.size += inner.size
      result.height = Math.max(result.height, inner.height + 1)
    }
    measured.set(node, result)
    return result
  }
  const { size } = visit(value, 0)
  return failure === undefined ? { kind: "tree", written, expanded: size } : { kind: failure }
}

const LEAF = { size: 1, height: 0 }
const OPEN = { size: 0, height: 0 }
