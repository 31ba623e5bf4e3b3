import { requestOf } from "../core/lazy-operation.ts"
import type { SearchHit } from "../search/index.ts"
import { pathScore, readRequest } from "../search/requests.ts"
import type { OperationRecord } from "./record.ts"

/** Among requests with the same path, the one that only reads comes first. */
const READ_BONUS = 1e-4

/**
 * Finds imported operations by method and path, best match first; `undefined` if the query is not a request,
 * or nothing matches. If it has words instead of a path, they are to be searched for among the hits.
 *
 * Reads the list of operations: an index of paths would take memory for a query that is rare.
 */
export function findRequests(
  query: unknown,
  records: Iterable<OperationRecord>,
  accept: (id: string) => boolean,
): { readonly hits: readonly SearchHit[]; readonly words: string | undefined } | undefined {
  const wanted = typeof query === "string" && readRequest(query)
  if (!wanted) return undefined
  const { method, segments, words } = wanted
  const hits: SearchHit[] = []
  for (const { id, spec } of records) {
    const request = requestOf(spec)
    if (request === undefined || request.method !== (method ?? request.method)) continue
    const score = segments === undefined ? 1 : pathScore(segments, request.path)
    if (score === 0 || !accept(id)) continue
    hits.push({ id, score: request.method === "GET" ? score + READ_BONUS : score })
  }
  hits.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  return hits.length === 0 ? undefined : { hits, words }
}
