import { allows } from "../core/access.ts"
import type { AnyOperation } from "../core/define.ts"
import { requestOf } from "../core/lazy-operation.ts"
import { CallError } from "../core/errors.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import { reading } from "../internal/brands.ts"
import type { Logger } from "../internal/logger.ts"
import { DEFAULT_LIMIT, SearchIndex, type SearchDocument, type SearchHit } from "../search/index.ts"
import type { Identity, OperationSpec, OperationType } from "../core/types.ts"
import type { OperationPolicy } from "../core/operation-settings.ts"
import { findRequests } from "./find-requests.ts"
import { handlerIssue } from "./handler-kind.ts"
import { typeName } from "../internal/message-text.ts"
import { OperationRecord, type AnyHandler, type RecordDefaults } from "./record.ts"
import { POLICY_MEMBERS, policyIssues, readPolicy } from "./operation-settings.ts"
import { checkDefinition, invalidDefinition } from "./spec.ts"
import { RecordStore } from "./store.ts"
import { expectFreeRoutes } from "./rest-routes.ts"
import { Listeners } from "../internal/listeners.ts"

/** The policy of an operation registered by its spec alone. */
const NO_POLICY = Object.fromEntries(
  ["handler", ...Object.keys(POLICY_MEMBERS)].map((name) => [name, undefined]),
)

/** One change of the registered operations. */
export interface RegistryChange {
  readonly type: "added" | "removed" | "replaced"
  readonly id: string
  /** The new spec; for "removed", the one that was removed. */
  readonly spec: OperationSpec
  /** For "replaced", the spec until now. */
  readonly previous?: OperationSpec | undefined
}

/** How to search. */
export interface SearchOptions {
  /** Maximum number of results; 20 by default. */
  readonly limit?: number | undefined
  readonly namespace?: string | undefined
  readonly type?: OperationType | undefined
  /** Find only operations that this caller may call; if `undefined`, those that anonymous callers may. */
  readonly identity?: Identity | undefined
}

export const SEARCH_OPTIONS: OptionsSchema<SearchOptions> = {
  limit: { min: 0, whole: true },
  namespace: "string",
  type: { oneOf: ["query", "mutation", "subscription"] },
  // A malformed identity may call nothing, so the search finds nothing for it.
  identity: "any",
}

/** A found operation: the fields that lists show, and the whole spec. */
export interface SearchResult extends Pick<
  OperationSpec,
  "namespace" | "name" | "type" | "title" | "description"
> {
  readonly id: string
  /** Higher is better; only the order means something. */
  readonly score: number
  readonly spec: OperationSpec
}

export interface CatalogOptions extends RecordDefaults {
  readonly formats: boolean
  readonly logger: Logger
}

type Accept = (id: string) => boolean

/** The registered operations: adds, removes and finds them, and notifies listeners of changes. */
export class Catalog {
  readonly store: RecordStore = new RecordStore()
  readonly #options: CatalogOptions
  readonly #listeners = new Listeners<RegistryChange>()
  /** Changes that are being reported, in order. */
  readonly #changes: RegistryChange[] = []
  #index: SearchIndex | undefined
  /** Ids of operations that are new or changed since the index was last updated. */
  #unindexed = new Set<string>()
  #isClosed = false

  constructor(options: CatalogOptions) {
    this.#options = options
  }

  /** Adds all, or throws and adds none. */
  add(operations: readonly AnyOperation[], replace: boolean): void {
    if (!Array.isArray(operations)) {
      throw new TypeError(`registerAll(operations): must be an array, got ${typeName(operations)}.`)
    }
    const seen = new Set<string>()
    const records = reading("registerAll(operations): operations", () => [...operations]).map(
      (operation) => {
        const record = this.#prepare(operation)
        if (seen.has(record.id) && !replace)
          throw alreadyRegistered(record.id, "appears twice in this list")
        seen.add(record.id)
        if (!replace) this.#expectFree(record.id)
        return record
      },
    )
    expectFreeRoutes(this.store, records)
    for (const record of records) this.#put(record)
  }

  addSpec(spec: OperationSpec, replace: boolean): void {
    const record = this.#prepare(
      reading("registerSpec(spec): spec", () =>
        typeof spec === "object" && spec !== null && !Array.isArray(spec)
          ? { ...spec, ...NO_POLICY }
          : spec,
      ),
      "registerSpec(spec): spec",
    )
    if (!replace) this.#expectFree(record.id)
    expectFreeRoutes(this.store, [record])
    this.#put(record)
  }

  addHandler(id: string, handler: unknown, policy: OperationPolicy, replace: boolean): void {
    const record = this.store.get(id)
    if (record === undefined) {
      const displayedId = typeof id === "string" ? id.slice(0, 200) : typeName(id)
      throw new CallError(
        "OPERATION_NOT_FOUND",
        `registerHandler("${displayedId}"): no such spec. Register it first: registry.registerSpec(spec).`,
        { details: { operationId: displayedId } },
      )
    }
    const handlerProblem = handlerIssue(handler, record.spec.type)
    const issues = reading("registerHandler(id, handler, options): options", () =>
      policyIssues(policy),
    )
    if (handlerProblem !== undefined) issues.push({ path: "/handler", message: handlerProblem })
    if (issues.length > 0) throw invalidDefinition(record.spec, issues)
    if (record.handler !== undefined && !replace)
      throw alreadyRegistered(id, "already has a handler")
    this.#put(record.withHandler(handler as AnyHandler, readPolicy(policy), this.#options))
  }

  remove(id: string): boolean {
    const record = this.store.get(id)
    if (record === undefined) return false
    this.store.delete(record)
    this.#unindexed.delete(id)
    this.#index?.remove(id)
    this.#notify({ type: "removed", id, spec: record.spec })
    return true
  }

  search(query: string, options: SearchOptions, isShown: Accept): SearchResult[] {
    validateOptions("search", options, SEARCH_OPTIONS)
    const { limit, namespace, type, identity, asCaller } = reading(
      "search(query, options): options",
      () => ({ ...options, asCaller: "identity" in options }),
    )
    const accept: Accept = (id) => {
      const record = this.store.get(id)
      if (record === undefined || record.spec.visibility === "internal") return false
      if (namespace !== undefined && record.spec.namespace !== namespace) return false
      if (type !== undefined && record.spec.type !== type) return false
      return (!asCaller || mayEverCall(record, identity)) && isShown(id)
    }
    const hits = this.#byRequest(query, limit, accept) ?? this.#byWords(query, limit, accept)
    return hits.map(({ id, score }) =>
      toSearchResult(id, score, (this.store.get(id) as OperationRecord).spec),
    )
  }

  #byRequest(query: string, limit: number | undefined, accept: Accept): SearchHit[] | undefined {
    const matches = findRequests(query, this.store.values(), accept)
    if (matches?.words === undefined) return matches?.hits.slice(0, limit ?? DEFAULT_LIMIT)
    const ids = new Set(matches.hits.map(({ id }) => id))
    const hits = this.#byWords(matches.words, limit, (id) => ids.has(id))
    return hits.length === 0 ? undefined : hits
  }

  #byWords(query: string, limit: number | undefined, accept: Accept): SearchHit[] {
    this.updateIndex()
    return (this.#index as SearchIndex).search(query, { limit, accept })
  }

  /** Updates the search index; returns `false` if `isDue` interrupted it. */
  updateIndex(isDue?: () => boolean): boolean {
    if (this.#index === undefined) {
      this.#index = new SearchIndex()
      this.#unindexed = new Set(Array.from(this.store.values(), ({ id }) => id))
    }
    for (const id of this.#unindexed) {
      if (isDue?.() === true) return false
      this.#unindexed.delete(id)
      this.#index.add(documentOf(this.store.get(id) as OperationRecord))
    }
    this.#index.prepare()
    return true
  }

  onChange(listener: (change: RegistryChange) => void): () => void {
    if (typeof listener !== "function") {
      throw new TypeError(`onChange(listener): must be a function, got ${typeName(listener)}.`)
    }
    return this.#isClosed ? () => {} : this.#listeners.add(listener)
  }

  /** Notifies listeners of every operation: something that lists of them show has changed. */
  announceAll(): void {
    for (const { id, spec } of this.store.values()) {
      this.#notify({ type: "replaced", id, spec, previous: spec })
    }
  }

  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
    this.#index = undefined
  }

  #prepare(operation: AnyOperation, what = "register(definition): definition"): OperationRecord {
    if (this.#isClosed) {
      throw new CallError("UNAVAILABLE", "Nothing can be registered: the registry is closed.", {
        retryable: false,
      })
    }
    return reading(what, () => {
      const checked = checkDefinition(operation, this.#options.formats, what)
      return new OperationRecord(
        checked,
        operation.handler as AnyHandler | undefined,
        this.#options,
      )
    })
  }

  #put(record: OperationRecord): void {
    const previous = this.store.get(record.id)?.spec
    this.store.set(record)
    if (this.#index !== undefined) this.#unindexed.add(record.id)
    const { id, spec } = record
    this.#notify(previous ? { type: "replaced", id, spec, previous } : { type: "added", id, spec })
  }

  #expectFree(id: string): void {
    if (this.store.get(id) !== undefined) throw alreadyRegistered(id, "is already registered")
  }

  /** Reports a change to every listener; one that a listener makes is reported after the current one. */
  #notify(change: RegistryChange): void {
    if (this.#changes.push(change) > 1) return
    const { logger } = this.#options
    for (const next of this.#changes) {
      this.#listeners.notifyLogged(next, logger, "A change listener threw", { id: next.id })
    }
    this.#changes.length = 0
  }
}

/**
 * Whether some call by this identity could pass. If access depends on the input, a permission on any resource
 * of the type is enough to find the operation.
 */
function mayEverCall(record: OperationRecord, identity: Identity | undefined): boolean {
  const { requirement } = record
  if (requirement === undefined) return true
  return allows({ ...requirement, resourceId: undefined }, identity, undefined)
}

function toSearchResult(id: string, score: number, spec: OperationSpec): SearchResult {
  const { namespace, name, type, title, description } = spec
  return { id, score, namespace, name, type, title, description, spec }
}

function documentOf({ id, spec, inputNames, subject }: OperationRecord): SearchDocument {
  const { title, description, tags, type } = spec
  const path = requestOf(spec)?.path
  return { id, title, description, tags, inputNames, path, subject, readsOnly: type !== "mutation" }
}

function alreadyRegistered(id: string, why: string): CallError {
  return new CallError(
    "CONFLICT",
    `Operation "${id}" ${why}. To replace it, pass { replace: true }.`,
    { details: { operationId: id }, operationId: id },
  )
}
