import { CallError } from "../../core/errors.ts"
import { validateOptions } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import { type PageInput, PageInputs } from "./paginate/inputs.ts"
import { type NextPage, Pager } from "./paginate/pager.ts"
import type { PageRule } from "./paginate/strategies.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { isRecord } from "../../internal/guards.ts"
import type { CallOptions, OperationSpec } from "../../core/types.ts"
import type { OperationContext } from "../../core/handler.ts"

/** A registry, or anything that calls operations like one. */
export interface PaginateRegistry {
  execute(id: string, input?: unknown, context?: CallOptions): Promise<ResponseEnvelope>
  getSpec?(id: string): OperationSpec | undefined
}

/** How the next page is requested. By default it is detected from the document and the responses. */
export interface PaginateOptions extends CallOptions, PageRule {
  /** Custom strategy: returns the next input, or `undefined` after the last page. */
  readonly next?: NextPage | undefined
  /** Stops after so many pages. Without it, more than 1,000 pages are an error. */
  readonly maxPages?: number | undefined
}

/** Call options are validated by the registry. A handler may pass its own context. */
export const PAGINATE_OPTIONS: OptionsSchema<PaginateOptions & OperationContext> = {
  requestId: "any",
  parentRequestId: "any",
  identity: "any",
  deadline: "any",
  timeout: "any",
  signal: "any",
  metadata: "any",
  log: "any",
  progress: "any",
  requestInput: "any",
  policy: "any",
  idempotencyKey: "any",
  attempt: "any",
  revalidate: "any",
  env: "any",
  call: "any",
  subscribe: "any",
  by: { oneOf: ["link", "url", "cursor", "page", "offset"] },
  cursor: { members: { from: { required: "string" }, to: { required: "text" } } },
  nextUrl: "string",
  page: "text",
  offset: "text",
  items: "string",
  next: "function",
  maxPages: "count",
}

const MAX_PAGES = 1000

/**
 * Calls an operation page by page; each page is an envelope.
 *
 * Pages are fetched on demand. The strategy comes from the options, else from the document's hint, a `Link`
 * header, an address or a cursor in the response, or page numbers, whichever is found first.
 */
export function paginate(
  registry: PaginateRegistry,
  id: string,
  input: PageInput = {},
  options: PaginateOptions = {},
): AsyncGenerator<ResponseEnvelope, void, undefined> {
  validateOptions("paginate", options, PAGINATE_OPTIONS)
  return pagesOf(registry, id, input, options)
}

async function* pagesOf(
  registry: PaginateRegistry,
  id: string,
  input: PageInput,
  options: PaginateOptions,
): AsyncGenerator<ResponseEnvelope, void, undefined> {
  if (!isRecord(input)) {
    throw new TypeError(`paginate(registry, "${id}", input): input must be an object.`)
  }
  const pager = new Pager(id, new PageInputs(registry.getSpec?.(id)), options, options.next)
  const { maxPages = MAX_PAGES } = options
  let next: PageInput | undefined = input
  for (let count = 1; next !== undefined; count++) {
    const envelope: ResponseEnvelope = await registry.execute(id, next, callOptions(options, count))
    pager.refuseRepeated(envelope)
    yield envelope
    if (count >= maxPages && options.maxPages !== undefined) return
    next = pager.next(envelope, next)
    if (count >= maxPages && next !== undefined) throw tooMany(id)
  }
}

// Request ids are unique: the first page uses the caller's, the others get their own.
function callOptions(options: PaginateOptions, count: number): CallOptions {
  const { requestId, parentRequestId, identity, deadline, timeout, signal } = options
  const { metadata, log, progress, policy } = options
  return {
    ...(count === 1 ? { requestId } : {}),
    ...{ parentRequestId, identity, deadline, timeout, signal, metadata, log, progress, policy },
  }
}

function tooMany(operationId: string): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `"${operationId}" has more than ${MAX_PAGES} pages. Set "maxPages" to the number that you want.`,
    { operationId, retryable: false },
  )
}
