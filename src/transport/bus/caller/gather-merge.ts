import { isRecord } from "../../../internal/guards.ts"
import type { CallRequestedEvent } from "../../../core/events.ts"
import { compareVersions } from "../wire/versions.ts"

/** The default page size of `services.list`. */
const PAGE = 500

type Fields = Readonly<Record<string, unknown>>

/** Merges the answers of many workers into one. Invalid parts are left out. */
export function mergeAnswers(request: CallRequestedEvent, answers: readonly unknown[]): Fields {
  const input = isRecord(request.input) ? request.input : {}
  const sound = answers.filter(isRecord)
  return request.operationId === "services.list"
    ? mergeLists(input, sound)
    : mergeSchemas(input, sound)
}

/**
 * Merges lists: every version of every operation, sorted by id and version.
 *
 * A page ends where the first incomplete answer ends, because operations may be missing beyond it. All versions of one
 * id are on one page, because the next page begins after an id.
 */
function mergeLists(input: Fields, answers: readonly Fields[]): Fields {
  const limit = typeof input["limit"] === "number" ? input["limit"] : PAGE
  const entries = new Map<string, Fields>()
  let end: string | undefined
  for (const { operations, hasMore } of answers) {
    const listed = listOf(operations).filter(hasId)
    for (const entry of listed) entries.set(`${entry.id} ${String(entry["version"])}`, entry)
    const last = listed.at(-1)?.id
    if (hasMore === true && last !== undefined && (end === undefined || last < end)) end = last
  }
  const all = [...entries.values()].filter(hasId).toSorted(byIdAndVersion)
  const complete = end === undefined ? all : all.filter(({ id }) => id <= end)
  const operations = complete.slice(0, cutAt(complete, limit))
  return { operations, hasMore: end !== undefined || operations.length < all.length }
}

/** The length of a page: it does not split the versions of one id, unless it contains nothing else. */
function cutAt(entries: readonly { readonly id: string }[], limit: number): number {
  if (entries.length <= limit) return entries.length
  const next = entries[limit]?.id
  const first = entries.findIndex(({ id }) => id === next)
  if (first > 0) return first
  const after = entries.findIndex(({ id }) => id !== next)
  return after === -1 ? entries.length : after
}

/** Merges specs: the highest version of every operation. Specs that one worker had no room for are requested again. */
function mergeSchemas(input: Fields, answers: readonly Fields[]): Fields {
  const unread = new Set(answers.flatMap(({ rest }) => listOf(rest)))
  const rest = listOf(input["ids"]).filter((id) => unread.has(id))
  const specs = new Map<string, Fields>()
  for (const answer of answers) {
    for (const spec of listOf(answer["specs"]).filter(isRecord)) {
      const id = `${String(spec["namespace"])}.${String(spec["name"])}`
      const existing = specs.get(id)
      if (unread.has(id)) continue
      if (existing === undefined || isBetter(spec, existing)) specs.set(id, spec)
    }
  }
  return { specs: [...specs.values()], rest }
}

/** Whether a spec is a newer version, or the same that came through fewer registries. */
function isBetter(spec: Fields, existing: Fields): boolean {
  const order = compareVersions(spec["version"], existing["version"])
  return order === 0 ? listOf(spec["via"]).length < listOf(existing["via"]).length : order > 0
}

function byIdAndVersion(left: Fields & { id: string }, right: Fields & { id: string }): number {
  if (left.id !== right.id) return left.id < right.id ? -1 : 1
  return compareVersions(left["version"], right["version"])
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function hasId(value: unknown): value is Fields & { readonly id: string } {
  return isRecord(value) && typeof value["id"] === "string"
}
