import { loggerOf } from "../../engine/failures.ts"
import { executeInto, type ServedRegistry } from "../../engine/served-registry.ts"
import type { CallSink } from "../../engine/sink.ts"
import { refusal, type CallError } from "../../core/errors.ts"
import type { EnvelopeStream } from "../../core/infer.ts"
import type { AppliedPolicy } from "../../core/policy-state.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Outlook } from "../../approvals/outlook.ts"
import type {
  AnyRegistry,
  OperationRegistry,
  RegisteredOperation,
  RegistryChange,
  SearchOptions,
  SearchResult,
} from "../../engine/registry.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { CallOptions, OperationSpec } from "../../core/types.ts"

/** A view of a registry with exposed operations only, for protocols other than HTTP requests. */
export class ExposedRegistry implements AnyRegistry {
  readonly #registry: ServedRegistry
  readonly #isExposed: (spec: OperationSpec) => boolean

  constructor(registry: AnyRegistry, isExposed: (spec: OperationSpec) => boolean) {
    this.#registry = registry
    this.#isExposed = isExposed
  }

  execute(id: string, input?: unknown, context?: CallOptions): Promise<ResponseEnvelope> {
    return this.has(id)
      ? this.#registry.execute(id, input, context)
      : Promise.reject(this.missing(id))
  }

  subscribe(id: string, input?: unknown, context?: CallOptions): EnvelopeStream {
    if (!this.has(id)) throw this.missing(id)
    return this.#registry.subscribe(id, input, context)
  }

  get(id: string): RegisteredOperation | undefined {
    return this.has(id) ? this.#registry.get(id) : undefined
  }

  getSpec(id: string): OperationSpec | undefined {
    const spec = this.#registry.getSpec(id)
    return spec !== undefined && this.#isExposed(spec) ? spec : undefined
  }

  has(id: string): boolean {
    return this.getSpec(id) !== undefined
  }

  list(): RegisteredOperation[] {
    return this.#registry.list().filter((operation) => this.#isExposed(operation))
  }

  getAllSpecs(): OperationSpec[] {
    return this.#registry.getAllSpecs().filter((spec) => this.#isExposed(spec))
  }

  search(query: string, options?: SearchOptions): SearchResult[] {
    return this.#registry.search(query, options).filter(({ spec }) => this.#isExposed(spec))
  }

  onChange(listener: (change: RegistryChange) => void): () => void {
    return this.#registry.onChange((change) => {
      if (this.#isExposed(change.spec)) listener(change)
    })
  }

  registerAll(): never {
    throw new TypeError("This is a view of a registry: register with the registry itself.")
  }

  unregister(): never {
    throw new TypeError("This is a view of a registry: unregister with the registry itself.")
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** @internal */
  get logger(): Logger {
    return loggerOf(this.#registry)
  }

  /** @internal */
  executeInto(id: string, input: unknown, sink: CallSink & CallOptions): void {
    if (this.has(id)) executeInto(this.#registry, id, input, sink)
    else sink.fail(this.missing(id))
  }

  /** @internal */
  updateIndex(isDue: () => boolean): boolean {
    return this.#registry.updateIndex?.(isDue) ?? true
  }

  /** @internal */
  outlook(...[id, call]: Parameters<OperationRegistry["outlook"]>): Outlook | undefined {
    return this.#registry.outlook?.(id, call)
  }

  /** @internal */
  async describePolicies(id: string): Promise<readonly AppliedPolicy[]> {
    return (await this.#registry.describePolicies?.(id)) ?? []
  }

  /** @internal Suggests no other id: it could be hidden. */
  missing(id: string): CallError {
    const operationId = id.slice(0, 200)
    return refusal("OPERATION_NOT_FOUND", `Operation "${operationId}" is not registered.`, {
      details: { operationId },
      operationId,
    })
  }
}
