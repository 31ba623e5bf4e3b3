import { CallError } from "../../core/errors.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { jsonText, listed } from "../../internal/message-text.ts"
import { isRecord } from "../../internal/guards.ts"
import { PageInputs, type PageInput } from "./paginate/inputs.ts"
import { candidatesOf } from "./paginate/strategies.ts"
import type { Candidate, PageRead, PageRule } from "./paginate/strategies.ts"
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
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
  via: "any",
  dryRun: "any",
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

/** A custom strategy: returns the input of the next page. */
export type NextPage = (envelope: ResponseEnvelope, input: PageInput) => PageInput | undefined

const RULES = ["by", "cursor", "nextUrl", "page", "offset"] as const
const WAYS = ["link", "url", "cursor", "page", "offset"]

/** Finds the input of each next page, and detects repeated pages. */
class Pager {
  readonly #id: string
  readonly #inputs: PageInputs
  readonly #rule: PageRule
  readonly #custom: NextPage | undefined
  readonly #seen = new Set<string>()
  #candidates: readonly Candidate[]
  #chosen: Candidate | undefined
  #lastPage: string | undefined

  constructor(id: string, inputs: PageInputs, rule: PageRule, custom: NextPage | undefined) {
    this.#id = id
    this.#inputs = inputs
    // Options replace the document's hint completely.
    const hasRule = RULES.some((name) => rule[name] !== undefined)
    const hint = !hasRule && isRecord(inputs.hint) ? (inputs.hint as PageRule) : {}
    this.#rule = { ...(hasRule ? rule : hint), items: rule.items ?? hint.items }
    this.#custom = custom
    if (this.#rule.by !== undefined && !WAYS.includes(this.#rule.by)) {
      throw new TypeError(`paginate(): "by" must be ${listed(WAYS)}.`)
    }
    this.#candidates = candidatesOf(this.#rule)
  }

  /** The input of the page after this one; `undefined` after the last. */
  next(envelope: ResponseEnvelope, input: PageInput): PageInput | undefined {
    if (this.#seen.size === 0) this.#seen.add(jsonText(input) ?? "")
    const next =
      this.#custom === undefined ? this.#decide(envelope, input) : this.#custom(envelope, input)
    if (next === undefined) return undefined
    const key = jsonText(next)
    if (key !== undefined && this.#seen.has(key)) {
      throw this.#repeated("would be one that was read already")
    }
    if (key !== undefined) this.#seen.add(key)
    this.#lastPage = this.#chosen?.counts === true ? jsonText(envelope.data) : undefined
    return next
  }

  /** Throws when the server returns the previous page again. */
  refuseRepeated({ data }: ResponseEnvelope): void {
    if (this.#lastPage === undefined || jsonText(data) !== this.#lastPage) return
    throw this.#repeated("is the same as the one before, so that its number has no effect")
  }

  #decide(envelope: ResponseEnvelope, input: PageInput): PageInput | undefined {
    const { items, by } = this.#rule
    const page: PageRead = { envelope, input, inputs: this.#inputs, operationId: this.#id, items }
    for (const candidate of this.#candidates) {
      const step = candidate.strategy(page)
      if (step === undefined) continue
      // Keep the strategy that worked: when it finds nothing, this was the last page.
      this.#candidates = [candidate]
      this.#chosen = candidate
      return step === "end" ? undefined : step
    }
    if (by === "page" || by === "offset") throw this.#nothingToCount(by)
    return undefined
  }

  #repeated(issue: string): CallError {
    return new CallError(
      "EXECUTION_ERROR",
      `The next page of "${this.#id}" ${issue}. Reading stopped: it would never end.`,
      { operationId: this.#id, retryable: false },
    )
  }

  #nothingToCount(by: "page" | "offset"): CallError {
    return new CallError(
      "VALIDATION_ERROR",
      `Operation "${this.#id}" has no input that is known to count by ${by}. Name it with the option "${by}".`,
      { operationId: this.#id },
    )
  }
}
