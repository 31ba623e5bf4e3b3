import { requirementOf } from "../core/access.ts"
import { requestOf } from "../core/lazy-operation.ts"
import type { OperationSpec } from "../core/types.ts"
import { cutText } from "../internal/message-text.ts"
import { servedAs, type ServedAs } from "../mcp/served-as.ts"
import type { HTTPCaller } from "../serve/exchange.ts"
import type { HTTPContext } from "../serve/http/http-context.ts"
import { sortedIds } from "../serve/http/listing.ts"

/** An operation in the list of a hub. */
export interface OperationSummary extends Pick<
  OperationSpec,
  "namespace" | "name" | "type" | "title" | "tags" | "deprecated"
> {
  readonly id: string
  /** The first 300 characters of the description. */
  readonly description: string
  /** The name of its source. */
  readonly source?: string | undefined
  /** The HTTP request of an imported operation: `GET /pets/{id}`. */
  readonly request?: string | undefined
  /** Calling it needs scopes or permissions. */
  readonly isProtected?: boolean | undefined
  /** What MCP clients use it as, if not as a tool. */
  readonly mcp?: ServedAs | undefined
}

/** Maximum length of a description: complete ones would be most of the response. */
const MAX_DESCRIPTION = 300

/** Lists every operation that a caller may call, by id, for search-as-you-type. */
export function summariesFor(
  context: HTTPContext,
  caller: HTTPCaller,
  sourceOf: (id: string) => string | undefined,
): OperationSummary[] {
  const summaries: OperationSummary[] = []
  for (const id of sortedIds(context.registry)) {
    const spec = context.findFor(caller, id)
    if (spec !== undefined) summaries.push(summaryOf(id, spec, sourceOf(id)))
  }
  return summaries
}

function summaryOf(id: string, spec: OperationSpec, source: string | undefined): OperationSummary {
  const { namespace, name, type, title, description, tags, deprecated } = spec
  const request = requestOf(spec)
  return {
    id,
    namespace,
    name,
    type,
    title,
    description: cutText(description, MAX_DESCRIPTION),
    tags,
    deprecated,
    source,
    request: request && `${request.method} ${request.path}`,
    isProtected: requirementOf(spec.accessControl) === undefined ? undefined : true,
    mcp: servedAs(spec),
  }
}
