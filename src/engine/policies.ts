import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Middleware, MiddlewareCall, StreamNext } from "../core/middleware.ts"
import type {
  Policies,
  PolicyHost,
  PolicyRule,
  PolicyTarget,
  Resilience,
} from "../core/resilience.ts"
import { compilePattern } from "../internal/pattern.ts"
import type { Link } from "./chain.ts"
import type { OperationRecord } from "./record.ts"

type Layer = Resilience | "standard"

/** Which policies operations have besides those of their definitions. */
export interface PolicyDirectory {
  /** The settings for an operation, the most important first. */
  layersOf(id: string): readonly Layer[]
  /** What the operation shares a breaker with; its namespace if this is not known. */
  sourceOf?(id: string): string | undefined
}

/** Which operations have policies. What the policies do is loaded when the first of them is called. */
export class PolicyLoader {
  readonly #host: PolicyHost
  readonly #onChange: () => void
  #directory: PolicyDirectory
  #targets = new WeakMap<OperationRecord, PolicyTarget>()
  #loading: Promise<Policies> | undefined
  #policies: Policies | undefined
  #isClosed = false

  constructor(host: PolicyHost, rules: readonly PolicyRule[], onChange: () => void) {
    this.#host = host
    this.#directory = compileRules(rules)
    this.#onChange = onChange
  }

  /** Sets other policies; what the old ones remember is forgotten. */
  setDirectory(directory: PolicyDirectory): void {
    this.#directory = directory
    this.#targets = new WeakMap()
    this.#onChange()
  }

  /** The policies of all operations; `undefined` before the first of them was called. */
  get loaded(): Policies | undefined {
    return this.#policies
  }

  /** The settings of an operation, the most important first. */
  layersOf({ id, policy }: OperationRecord): readonly Layer[] {
    const layers = this.#directory.layersOf(id)
    return policy.resilience === undefined ? layers : [...layers, policy.resilience]
  }

  /** The policies of an operation as the innermost middleware; `undefined` if it has none. */
  linkFor(record: OperationRecord): Link | undefined {
    const layers = this.layersOf(record)
    if (layers.length === 0) return undefined
    const target = this.#targetOf(record, layers)
    if (this.#policies !== undefined) return toLink(this.#policies.for(target))
    return {
      name: NAME,
      call: async (call, next) => {
        const policies = await this.#load()
        return await (policies.for(target)?.call?.(call, next) ?? next())
      },
      stream: (call, next) => this.#streamWhenLoaded(target, call, next),
    }
  }

  /** Forgets an operation that was removed or replaced. */
  drop(record: OperationRecord): void {
    const target = this.#targets.get(record)
    if (target !== undefined) this.#policies?.forget(target)
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

  #targetOf(record: OperationRecord, layers: readonly Layer[]): PolicyTarget {
    const known = this.#targets.get(record)
    if (known !== undefined) return known
    const { id, spec, isIdempotent, isStream, isImported } = record
    const target: PolicyTarget = {
      ...{ operationId: id, spec, isIdempotent, isStream, isImported },
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

const NAME = "resilience"

function toLink(middleware: Middleware | undefined): Link | undefined {
  return middleware && { name: NAME, call: middleware.call, stream: middleware.stream }
}

/** The policies of rules with patterns. */
export function compileRules(rules: readonly PolicyRule[]): PolicyDirectory {
  const compiled = rules.map(({ match, standard, ...resilience }) => {
    const matchers = (typeof match === "string" ? [match] : match).map(compilePattern)
    const layers: readonly Layer[] = standard === true ? [resilience, "standard"] : [resilience]
    return { matchers, layers }
  })
  return {
    layersOf: (id) =>
      compiled.flatMap(({ matchers, layers }) =>
        matchers.some((matches) => matches(id)) ? layers : [],
      ),
  }
}
