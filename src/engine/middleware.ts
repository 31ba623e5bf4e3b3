import { CallError } from "../core/errors.ts"
import { markInternal } from "../core/error-marks.ts"
import { showerOf, type DryRun, type ShownRequest } from "../core/dry-run.ts"
import { localEnvelope, type ResponseEnvelope } from "../core/envelope.ts"
import { MIDDLEWARE_OPTIONS, middlewareIssue } from "../core/middleware.ts"
import type {
  Middleware,
  MiddlewareCall,
  MiddlewareFunction,
  MiddlewareOptions,
} from "../core/middleware.ts"
import { reasonOf } from "../internal/message-text.ts"
import { validateOptions } from "../internal/options.ts"
import { compilePattern, type Matcher } from "../internal/pattern.ts"
import type { Approvals } from "../approvals/approvals.ts"
import type { Outlook } from "../approvals/outlook.ts"
import type { ApprovalCall } from "../core/approvals.ts"
import { Chain, type Link } from "./chain.ts"
import type { OperationRecord } from "./record.ts"
import type { RecordStore } from "./store.ts"
import type { PolicyRule } from "../core/resilience.ts"
import type { PipelineHost } from "./result-pipeline.ts"
import { PolicyLoader } from "./policies.ts"

/** A middleware of a registry. */
interface Entry {
  readonly name: string
  readonly middleware: Middleware | MiddlewareFunction
  readonly matchers: readonly Matcher[]
  /** The link that it returned for each operation. */
  readonly links: WeakMap<OperationRecord, Link | undefined>
}

/** The middleware of a registry and of its operations. */
export class MiddlewareStack {
  readonly #store: RecordStore
  readonly policies: PolicyLoader
  /** Masks further secrets of the application in what callers are shown. */
  mask: (text: string) => string = (text) => text
  #approvals: Approvals | undefined
  #entries: readonly Entry[] = []

  constructor(
    store: RecordStore,
    options: PipelineHost & {
      readonly policies: readonly PolicyRule[]
      readonly approvals: Approvals | undefined
    },
  ) {
    this.#store = store
    this.#approvals = options.approvals
    this.policies = new PolicyLoader(options, options.policies, () => this.#set(this.#entries))
    store.onDrop = (record) => this.policies.drop(record)
  }

  /** Adds a middleware inside the existing ones; returns a function that removes it. */
  use(middleware: Middleware | MiddlewareFunction, options: MiddlewareOptions = {}): () => void {
    const issue = middlewareIssue(middleware)
    if (issue !== undefined) throw new TypeError(`use(middleware): ${issue}.`)
    validateOptions("use", options, MIDDLEWARE_OPTIONS)
    const { match = "*", name } = options
    const entry: Entry = {
      name: name ?? (nameOf(middleware) || `middleware ${this.#entries.length + 1}`),
      middleware,
      matchers: (typeof match === "string" ? [match] : match).map(compilePattern),
      links: new WeakMap(),
    }
    this.#set([...this.#entries, entry])
    return () => {
      if (this.#entries.includes(entry)) this.#set(this.#entries.filter((one) => one !== entry))
    }
  }

  get approvals(): Approvals | undefined {
    return this.#approvals
  }

  /** Applies other rules to calls that start from now on. */
  setApprovals(approvals: Approvals | undefined): void {
    this.#approvals = approvals
    this.#set(this.#entries)
  }

  /** What may happen to the calls of an operation, as far as they are known. */
  outlook(record: OperationRecord, call: Partial<ApprovalCall>): Outlook | undefined {
    return this.#approvals?.outlook({ ...subjectOf(record), ...call })
  }

  /** What is wrong with the rules of approvals for the operations that are registered. */
  async reviewApprovals(): Promise<readonly string[]> {
    return (await this.#approvals?.review(Array.from(this.#store.values(), subjectOf))) ?? []
  }

  /** The middleware of an operation; `undefined` if it has none. */
  chainOf(record: OperationRecord): Chain | undefined {
    if (record.chain === null) record.chain = this.#compile(record)
    return record.chain as Chain | undefined
  }

  /** In place of the middleware and the handler of an operation: reports what a call would do. */
  dryRunOf(record: OperationRecord): Chain {
    const report = async (call: MiddlewareCall): Promise<ResponseEnvelope> => {
      const decided = await this.#approvals?.judge(call, record.hasClaims)
      const { decide: decision = "allow", rule, reason } = decided ?? {}
      const shower = decision === "deny" ? undefined : showerOf(record.handler)
      const request = await shower?.show(call.input, call)
      const found: DryRun = {
        ...{ dryRun: true, decision },
        ...(rule !== undefined && { rule }),
        ...(reason !== undefined && { reason }),
        ...(request !== undefined && { request: this.#masked(request) }),
      }
      this.#approvals?.noteDryRun(found, call, record.hasClaims)
      return localEnvelope(found, record.id)
    }
    return new Chain([{ name: "dry run", call: report }])
  }

  close(): void {
    this.policies.close()
  }

  #masked({ method, url, headers, body }: ShownRequest): ShownRequest {
    const { mask } = this
    const masked = Object.entries(headers).map(([name, value]) => [name, mask(value)])
    const shown = { method, url: mask(url), headers: Object.fromEntries(masked) as typeof headers }
    return body === undefined ? shown : { ...shown, body: mask(body) }
  }

  #set(entries: readonly Entry[]): void {
    this.#entries = entries
    for (const record of this.#store.values()) record.chain = null
  }

  #compile(record: OperationRecord): Chain | undefined {
    const links: Link[] = []
    const approvals = this.#approvals?.for(subjectOf(record), (call) => this.policies.repeats(call))
    if (approvals !== undefined) {
      const link = linkFor(approvals, "approvals", record)
      if (link !== undefined) links.push(link)
    }
    for (const entry of this.#entries) {
      const { name, middleware, matchers } = entry
      if (!matchers.some((matches) => matches(record.id))) continue
      if (!entry.links.has(record)) entry.links.set(record, linkFor(middleware, name, record))
      const link = entry.links.get(record)
      if (link !== undefined) links.push(link)
    }
    for (const [index, middleware] of (record.policy.use ?? []).entries()) {
      const link = linkFor(middleware, nameOf(middleware) || `use[${index}]`, record)
      if (link !== undefined) links.push(link)
    }
    const policies = this.policies.linkFor(record)
    if (policies !== undefined) links.push(policies)
    return links.length === 0 ? undefined : new Chain(links)
  }
}

/** An operation as rules see it. */
function subjectOf({ id, spec, hasClaims }: OperationRecord): ApprovalCall {
  return { operationId: id, spec, hasClaims }
}

/** The link of a middleware for one operation; `undefined` if it does nothing. */
function linkFor(
  middleware: Middleware | MiddlewareFunction,
  name: string,
  record: OperationRecord,
): Link | undefined {
  const chosen = isChoosing(middleware) ? choose(middleware, name, record) : middleware
  if (chosen === undefined) return undefined
  if (typeof chosen === "function") {
    return record.isStream ? undefined : { name, call: chosen }
  }
  const { call, stream } = chosen
  if (record.isStream) return stream && { name, stream: stream.bind(chosen) }
  return call && { name, call: call.bind(chosen) }
}

type Choosing = Middleware & Required<Pick<Middleware, "for">>

function isChoosing(middleware: Middleware | MiddlewareFunction): middleware is Choosing {
  return typeof middleware === "object" && middleware.for !== undefined
}

function choose(
  middleware: Choosing,
  name: string,
  { id, spec }: OperationRecord,
): Middleware | MiddlewareFunction | undefined {
  try {
    const chosen = middleware.for(spec) ?? undefined
    const issue = chosen === undefined ? undefined : middlewareIssue(chosen)
    if (issue === undefined) return chosen
    throw new TypeError(`what it returns ${issue}`)
  } catch (cause) {
    const reason = reasonOf(cause).replace(/\.$/, "")
    const message = `"${id}" was not called: for() of the middleware "${name}" failed: ${reason}.`
    throw markInternal(
      new CallError("EXECUTION_ERROR", message, { cause, mayHaveExecuted: false, operationId: id }),
    )
  }
}

function nameOf(middleware: Middleware | MiddlewareFunction): string {
  const name: unknown =
    typeof middleware === "function" ? middleware.name : middleware.constructor?.name
  return typeof name === "string" && name !== "Object" ? name : ""
}
