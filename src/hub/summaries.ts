import { requirementOf } from "../core/access.ts"
import { sortedIds } from "../serve/http/sorted-ids.ts"
import type { HTTPContext } from "../serve/http/context.ts"
import type { HTTPCaller } from "../serve/caller.ts"
import type { OperationSpec } from "../core/types.ts"

/** An operation in the list of a hub. */
export interface OperationSummary extends Pick<
  OperationSpec,
  "namespace" | "name" | "type" | "title" | "tags" | "deprecated"
> {
  readonly id: string
  /** Its first 300 characters. */
  readonly description: string
  /** The source it comes from, by the hub's name for it. */
  readonly source?: string | undefined
  /** Scopes or rights are needed to call it. */
  readonly isProtected?: boolean | undefined
}

/** Whole descriptions of thousands of operations would be most of the answer. */
const MOST_DESCRIPTION = 300

/** Every operation that a caller may call, by id, in one list: what somebody searches as they type. */
export function summariesFor(
  context: HTTPContext,
  caller: HTTPCaller,
  sourceOf: (id: string) => string | undefined,
): OperationSummary[] {
  const summaries: OperationSummary[] = []
  for (const id of sortedIds(context.registry)) {
    const spec = context.find(id)
    if (spec !== undefined && context.maySee(spec, caller)) {
      summaries.push(summaryOf(id, spec, sourceOf(id)))
    }
  }
  return summaries
}

function summaryOf(id: string, spec: OperationSpec, source: string | undefined): OperationSummary {
  const { namespace, name, type, title, description, tags, deprecated } = spec
  const isProtected = requirementOf(spec.accessControl) !== undefined
  return {
    id,
    namespace,
    name,
    type,
    ...(title !== undefined && { title }),
    description: beginningOf(description),
    ...(tags !== undefined && { tags }),
    ...(deprecated !== undefined && { deprecated }),
    ...(source !== undefined && { source }),
    ...(isProtected && { isProtected }),
  }
}

function beginningOf(text: string): string {
  // Half a character at the end is none.
  return text.length <= MOST_DESCRIPTION
    ? text
    : `${text.slice(0, MOST_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, "")}…`
}
