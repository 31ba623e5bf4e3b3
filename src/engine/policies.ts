import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Middleware, MiddlewareCall, StreamNext } from "../core/middleware.ts"
import type { AppliedPolicy, PolicyState } from "../core/policy-state.ts"
import type { Policies, PolicyLayer, PolicyRule, PolicyTarget } from "../core/resilience.ts"
import { compilePattern } from "../internal/pattern.ts"
import type { Link } from "./chain.ts"
import type { OperationRecord } from "./record.ts"
import { processResult, type PipelineHost } from "./result-pipeline.ts"

/** Policies of operations besides those of their definitions. */
export interface PolicyDirectory {
  /** The settings for an operation, the most important first. */
  layersOf(id: string): readonly PolicyLayer[]
  /** The source whose operations share a breaker with this one; its namespace if `undefined`. */
  sourceOf?(id: string): string | undefined
}

/** Finds the policies of operations. Their code is loaded when the first operation with policies is called. */
export class PolicyLoader {
  readonly #host: PipelineHost
  readonly #onChange: () => void
  #directory: PolicyDirectory
  #targets = new WeakMap<OperationRecord, PolicyTarget>()
  #loading: Promise<Policies> | undefined
  #policies: Policies | undefined
  #isClosed = false

  constructor(host: PipelineHost, rules: readonly PolicyRule[], onChange: () => void) {
    this.#host = host
    this.#directory = compileRules(rules)
    this.#onChange = onChange
  }

  /** Replaces the policies. Those with the same settings keep their state. */
  setDirectory(directory: PolicyDirectory): void {
    this.#directory = directory
    this.#targets = new WeakMap()
    this.#policies?.update(({ record }) => this.#targetOf(record as OperationRecord))
    this.#onChange()
  }

  /** The policies of an operation, and where they were set. */
  async describe(record: OperationRecord): Promise<readonly AppliedPolicy[]> {
    const target = this.#targetOf(record)
    return target === undefined ? [] : (await this.#load()).describe(target)
  }

  /** The current state of the policies. */
  state(): PolicyState {
    return this.#policies?.state() ?? { breakers: [], budgets: [], operations: [] }
  }

  repeats(call: MiddlewareCall): boolean | undefined {
    return this.#policies?.repeats(call)
  }

  /** The policies of an operation as the innermost middleware; `undefined` if it has none. */
  linkFor(record: OperationRecord): Link | undefined {
    const target = this.#targetOf(record)
    if (target === undefined) {
      this.drop(record)
      return undefined
    }
    if (this.#policies !== undefined) return toLink(this.#policies.for(target))
    return {
      ...LINK,
      call: async (call, next) => {
        const policies = await this.#load()
        return await (policies.for(target)?.call?.(call, next) ?? next())
      },
      stream: (call, next) => this.#streamWhenLoaded(target, call, next),
    }
  }

  /** Forgets an operation that was removed, or that has no policies any more. */
  drop({ id }: OperationRecord): void {
    this.#policies?.forget(id)
  }

  close(): void {
    this.#isClosed = true
    this.#policies?.close()
  }

  async *#streamWhenLoaded(
    target: PolicyTarget,
    call: MiddlewareCall,
    next: StreamNext,
  ): AsyncIterable<ResponseEnvelope> {
    const policies = await this.#load()
    yield* policies.for(target)?.stream?.(call, next) ?? next()
  }

  /** An operation as policies see it; `undefined` if it has no policies. */
  #targetOf(record: OperationRecord): PolicyTarget | undefined {
    const cached = this.#targets.get(record)
    if (cached !== undefined) return cached
    const { id, spec, isIdempotent, isStream, isImported, timeout, policy } = record
    const layers = [...this.#directory.layersOf(id)]
    if (policy.resilience !== undefined) {
      layers.push({ from: "definition", settings: policy.resilience })
    }
    if (layers.length === 0) return undefined
    const target: PolicyTarget = {
      ...{ operationId: id, record, spec, isIdempotent, isStream, isImported, timeout },
      toEnvelope: (result) => processResult(record, result, this.#host),
      source: this.#directory.sourceOf?.(id) ?? spec.namespace,
      layers,
    }
    this.#targets.set(record, target)
    return target
  }

  #load(): Promise<Policies> {
    return (this.#loading ??= this.#import().catch((error: unknown) => {
      this.#loading = undefined
      throw error
    }))
  }

  async #import(): Promise<Policies> {
    const { createPolicies } = await import("../policy/index.ts")
    const policies = createPolicies(this.#host)
    this.#policies = policies
    if (this.#isClosed) policies.close()
    this.#onChange()
    return policies
  }
}

const LINK = { name: "resilience", notesSharedWork: true }

function toLink(middleware: Middleware | undefined): Link | undefined {
  return middleware && { ...LINK, call: middleware.call, stream: middleware.stream }
}

/** The policies of rules with patterns. */
export function compileRules(rules: readonly PolicyRule[]): PolicyDirectory {
  const compiled = rules.map(({ match, standard, ...resilience }) => ({
    patterns: (typeof match === "string" ? [match] : match).map((pattern) => ({
      from: `pattern "${pattern}"`,
      matches: compilePattern(pattern),
    })),
    rule: `rule ${JSON.stringify(match)}`,
    settings: standard === true ? ([resilience, "standard"] as const) : [resilience],
  }))
  return {
    layersOf: (id) =>
      compiled.flatMap(({ patterns, rule, settings }) => {
        const from = patterns.find(({ matches }) => matches(id))?.from
        return from === undefined ? [] : settings.map((one) => ({ from, rule, settings: one }))
      }),
  }
}
