import { sameData } from "../internal/same-data.ts"
import type { ResolvedSource } from "../config/model.ts"

/** Settings that can change without reopening a source. */
const SHAPE: ReadonlySet<string> = new Set([
  "namespace",
  "include",
  "exclude",
  "rename",
  "visibility",
  "access",
  "resilience",
  "required",
  "disabled",
])

/** Whether a source that was opened with one configuration can be kept for the other. */
export function isSameOpening(a: ResolvedSource, b: ResolvedSource): boolean {
  return a.kind === b.kind && sameData(opening(a), opening(b))
}

function opening({ config }: ResolvedSource): object {
  return Object.fromEntries(Object.entries(config).filter(([key]) => !SHAPE.has(key)))
}
