import type { OperationSummary } from "../../../console/src/api/model.ts"

/** An operation of a list. */
export function op(id: string, more: Partial<OperationSummary> = {}): OperationSummary {
  const [namespace = "", ...rest] = id.split(".")
  return { id, namespace, name: rest.join("."), type: "query", description: "", ...more }
}
