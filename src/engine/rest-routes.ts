import { CallError } from "../core/errors.ts"
import type { RestRoute } from "../core/types.ts"
import type { OperationRecord } from "./record.ts"
import { RecordStore } from "./store.ts"

/** Throws `CONFLICT` if a route would match requests for that of another operation. What a list replaces does not count. */
export function expectFreeRoutes(store: RecordStore, records: readonly OperationRecord[]): void {
  if (records.every(({ spec }) => spec.route === undefined)) return
  const latest = new Map(records.map((record) => [record.id, record]))
  const added = new RecordStore()
  for (const record of latest.values()) {
    const { route } = record.spec
    if (route === undefined) continue
    const kept = [...store.withShapeOf(route)].filter(({ id }) => !latest.has(id))
    for (const other of [...kept, ...added.withShapeOf(route)]) {
      const issue = routeConflict(route, other.spec.route as RestRoute)
      if (issue !== undefined) throw routeTaken(record, other, issue)
    }
    added.set(record)
  }
}

/** What is wrong with two routes whose paths have the same shape. */
function routeConflict(own: RestRoute, other: RestRoute): string | undefined {
  if (own.method === other.method) return "Change the method or the path of one of them"
  if (own.path === other.path) return undefined
  return "Name the parameters alike: an OpenAPI document can describe only one of these paths"
}

function routeTaken(own: OperationRecord, other: OperationRecord, cure: string): CallError {
  const text = ({ spec: { route } }: OperationRecord): string => `${route?.method} ${route?.path}`
  return new CallError(
    "CONFLICT",
    `Operation "${own.id}" cannot be registered: its route ${text(own)} is the same as ${text(other)} of "${other.id}". ${cure}.`,
    { details: { operationId: own.id, conflictsWith: other.id }, operationId: own.id },
  )
}
