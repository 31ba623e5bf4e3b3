import { splitId } from "./ids.ts"

/** Decides which nested calls run on the application's authority. */
export type ComposesMatcher = (id: string) => boolean

/** Why a `composes` list is invalid; `undefined` if it is valid. */
export function composesIssue(composes: unknown): string | undefined {
  if (!Array.isArray(composes)) return `must be an array such as ["audit.write", "task.*"]`
  const bad = composes.findIndex(
    (entry) => typeof entry !== "string" || splitId(entry) === undefined,
  )
  if (bad === -1) return undefined
  return `entry ${bad} must be an id ("audit.write") or a whole namespace ("task.*")`
}

/** Compiles a valid `composes` list; `undefined` if it allows nothing. */
export function compileComposes(
  composes: readonly string[] | undefined,
): ComposesMatcher | undefined {
  if (composes === undefined || composes.length === 0) return undefined
  const ids = new Set(composes.filter((entry) => !entry.endsWith(".*")))
  const namespaces = new Set(
    composes.filter((entry) => entry.endsWith(".*")).map((entry) => entry.slice(0, -2)),
  )
  return (id) => ids.has(id) || namespaces.has(splitId(id)?.namespace ?? "")
}
