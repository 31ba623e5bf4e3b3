import { shownDeprecation } from "../../core/deprecation.ts"
import { refusal } from "../../core/errors.ts"
import { specFields } from "../../core/spec-schemas.ts"
import type { SearchResult } from "../../engine/catalog.ts"
import type { ServedRegistry } from "../../engine/served-registry.ts"
import type { OperationSpec, OperationType } from "../../core/types.ts"
import { servedAs, type ServedAs } from "../../mcp/served-as.ts"
import { perObject } from "../../internal/per-object.ts"
import { plainSchema } from "../../schema/read/plain-schema.ts"
import { jsonAnswer } from "./answer.ts"
import { withDeprecation } from "./deprecation.ts"
import { parseQuery } from "../query-input.ts"
import type { HTTPContext } from "./http-context.ts"
import type { HTTPAnswer, HTTPCaller } from "../exchange.ts"
import { indexInSlices } from "../../engine/search-index.ts"

/** An entry in the list of operations. */
export interface OperationEntry extends Pick<
  OperationSpec,
  "namespace" | "name" | "type" | "title" | "description" | "tags" | "deprecated"
> {
  readonly id: string
  /** What MCP clients use it as, if not as a tool. */
  readonly mcp?: ServedAs | undefined
}

/** A page of the list of operations. */
export interface OperationPage {
  readonly operations: readonly OperationEntry[]
  /** Cursor of the next page. */
  readonly nextCursor?: string
}

const PAGE = 100
const MAX_PAGE = 500
/** Maximum number of search results over all pages. */
const MAX_FOUND = 1000
const MAX_QUERY = 1000
const TYPES: readonly string[] = ["query", "mutation", "subscription"]

/** Lists the operations that a caller may call, filtered by the query of a URL. */
export async function listOperations(
  context: HTTPContext,
  caller: HTTPCaller,
  urlQuery: string,
): Promise<OperationPage> {
  const asked = readFilter(urlQuery)
  const { query, namespace, type } = asked
  if (query !== undefined) return byRank(await searchFor(context, caller, query, asked), asked)
  return byId(context, asked, (spec) => {
    if (namespace !== undefined && spec.namespace !== namespace) return false
    return (type === undefined || spec.type === type) && context.isShown(spec, caller)
  })
}

/** The ids of the operations that a caller may call and that answer the query of a URL, the best first. */
export async function searchIds(
  context: HTTPContext,
  caller: HTTPCaller,
  urlQuery: string,
): Promise<readonly string[]> {
  const asked = readFilter(urlQuery)
  if (asked.query === undefined) return []
  return (await searchFor(context, caller, asked.query, asked)).map(({ id }) => id)
}

/** Answers with the spec, and with the policies that apply. */
export async function describeOperation(
  context: HTTPContext,
  caller: HTTPCaller,
  id: string,
  spec: OperationSpec,
  pathOf: (spec: OperationSpec) => string,
): Promise<HTTPAnswer> {
  const policies = (await context.registry.describePolicies?.(id)) ?? []
  const text = specText(spec)
  const isShown = (other: string): boolean => context.findFor(caller, other) !== undefined
  // The rest is cached as text; policies change with the configuration, and callers see different successors.
  const more = JSON.stringify({
    deprecation: shownDeprecation(spec.deprecation, isShown),
    ...(policies.length > 0 && { resilience: policies }),
  })
  const answered = jsonAnswer(`${text.slice(0, -1)}${more === "{}" ? "" : ","}${more.slice(1)}`)
  return withDeprecation(answered, spec, context, caller, pathOf)
}

/** A spec as JSON: its input, output and errors, without implementation details. */
const specText = perObject((spec: OperationSpec): string => {
  const { namespace, name, inputSchema, outputSchema, errorSchemas } = spec
  const { visibility: _, deprecation: _caller, ...fields } = specFields(spec)
  return JSON.stringify({
    id: `${namespace}.${name}`,
    namespace,
    name,
    ...fields,
    inputSchema: plainSchema(inputSchema),
    outputSchema: plainSchema(outputSchema),
    errorSchemas: errorSchemas?.map((one) => ({ ...one, schema: plainSchema(one.schema) })),
  })
})

interface Filter {
  readonly query: string | undefined
  readonly namespace: string | undefined
  readonly type: OperationType | undefined
  readonly limit: number
  readonly cursor: string | undefined
}

function readFilter(urlQuery: string): Filter {
  const parameters = parseQuery(urlQuery)
  const first = (name: string): string | undefined => parameters.get(name)?.[0]
  const type = first("type")
  if (type !== undefined && !TYPES.includes(type)) {
    throw wrong("type", `must be one of ${TYPES.join(", ")}`)
  }
  const limit = first("limit") ?? String(PAGE)
  if (!/^[1-9]\d{0,5}$/.test(limit)) throw wrong("limit", `must be a number from 1 to ${MAX_PAGE}`)
  const query = first("query")?.trim()
  if (query !== undefined && query.length > MAX_QUERY) {
    throw wrong("query", `must have at most ${MAX_QUERY} characters`)
  }
  return {
    query: query === "" ? undefined : query,
    namespace: first("namespace"),
    type: type as OperationType | undefined,
    limit: Math.min(Number(limit), MAX_PAGE),
    cursor: first("cursor"),
  }
}

/** Pages by the last id, not by offset: the visible operations can change between two pages. */
function byId(
  context: HTTPContext,
  { limit, cursor }: Filter,
  isWanted: (spec: OperationSpec) => boolean,
): OperationPage {
  if (cursor !== undefined && !cursor.startsWith("id:")) throw wrongCursor()
  const ids = sortedIds(context.registry)
  const operations: OperationEntry[] = []
  for (
    let at = cursor === undefined ? 0 : placeAfter(ids, cursor.slice(3));
    at < ids.length;
    at++
  ) {
    const spec = context.find(ids[at] as string)
    if (spec === undefined || !isWanted(spec)) continue
    const last = operations.at(-1)
    if (operations.length === limit && last !== undefined) {
      return { operations, nextCursor: `id:${last.id}` }
    }
    operations.push(entryOf(spec))
  }
  return { operations }
}

function byRank(results: readonly SearchResult[], { limit, cursor }: Filter): OperationPage {
  const start = cursor === undefined ? 0 : Number(/^at:(\d{1,6})$/.exec(cursor)?.[1] ?? Number.NaN)
  if (Number.isNaN(start)) throw wrongCursor()
  const end = start + limit
  return {
    operations: results.slice(start, end).map(({ spec }) => entryOf(spec)),
    ...(end < results.length && { nextCursor: `at:${end}` }),
  }
}

async function searchFor(
  context: HTTPContext,
  caller: HTTPCaller,
  query: string,
  { namespace, type }: Filter,
): Promise<readonly SearchResult[]> {
  const { identity } = caller
  await indexInSlices(context.registry)
  return context.registry
    .search(query, { limit: MAX_FOUND, namespace, type, identity })
    .filter(
      ({ id }) =>
        context.findFor(caller, id) !== undefined &&
        context.registry.get(id)?.handler !== undefined,
    )
}

function entryOf(spec: OperationSpec): OperationEntry {
  const { namespace, name, type, title, description, tags, deprecated } = spec
  const entry = { namespace, name, type, title, description, tags, deprecated }
  return { id: `${namespace}.${name}`, ...entry, mcp: servedAs(spec) }
}

function wrongCursor(): Error {
  return wrong("cursor", "must be the nextCursor of a page of the same list")
}

function wrong(parameter: string, message: string): Error {
  return refusal("VALIDATION_ERROR", `The query parameter "${parameter}" ${message}.`, {
    details: { errors: [{ path: `/${parameter}`, message }] },
  })
}

const sorted = new WeakMap<ServedRegistry, { ids: readonly string[] | undefined }>()

/** The sorted ids of callable operations, cached until the registry changes; one listener per registry. */
export function sortedIds(registry: ServedRegistry): readonly string[] {
  let cached = sorted.get(registry)
  if (cached === undefined) {
    const fresh: { ids: readonly string[] | undefined } = { ids: undefined }
    registry.onChange(() => {
      fresh.ids = undefined
    })
    sorted.set(registry, fresh)
    cached = fresh
  }
  cached.ids ??= callableIds(registry).toSorted()
  return cached.ids
}

/** The ids of operations with a handler. A registry that is none of ours only lists its operations. */
function callableIds(registry: ServedRegistry): string[] {
  if (registry.callableIds !== undefined) return registry.callableIds()
  return registry
    .list()
    .filter(({ handler }) => handler !== undefined)
    .map(({ namespace, name }) => `${namespace}.${name}`)
}

/** The index of the first id after this one. */
function placeAfter(ids: readonly string[], last: string): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] as string) <= last) low = middle + 1
    else high = middle
  }
  return low
}
