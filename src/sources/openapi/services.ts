import { CallError } from "../../core/errors.ts"
import type { AnyOperation } from "../../core/define.ts"
import { FromOpenAPI, FromOpenAPIFile, FromOpenAPIUrl } from "./from-openapi.ts"
import type {
  ImportedOperations,
  OpenAPIConfig,
  OpenAPISpec,
  OpenAPIUrlConfig,
} from "./from-openapi.ts"
import type { OpenAPIFS } from "../../internal/platform.ts"

/** A collection of imported APIs, by namespace. */
export class OpenAPIServiceRegistry {
  readonly #services = new Map<string, ImportedOperations>()

  /** Imports a document under the namespace of its config. */
  add(spec: OpenAPISpec | string, config: OpenAPIConfig): ImportedOperations {
    this.#assertNamespaceFree(config)
    return this.#keep(FromOpenAPI(spec, config), config)
  }

  async addFromFile(
    path: string,
    config: OpenAPIConfig,
    fs?: OpenAPIFS,
  ): Promise<ImportedOperations> {
    this.#assertNamespaceFree(config)
    return this.#keep(await FromOpenAPIFile(path, config, fs), config)
  }

  async addFromUrl(url: string | URL, config: OpenAPIUrlConfig): Promise<ImportedOperations> {
    this.#assertNamespaceFree(config)
    return this.#keep(await FromOpenAPIUrl(url, config), config)
  }

  get(namespace: string): ImportedOperations | undefined {
    return this.#services.get(namespace)
  }

  /** Every operation of every API. */
  getAll(): ImportedOperations[number][] {
    return [...this.#services.values()].flat()
  }

  /** Removes an API. Registered operations stay registered. */
  remove(namespace: string): boolean {
    return this.#services.delete(namespace)
  }

  /** Registers every operation of every API. */
  registerAll(registry: { registerAll(operations: readonly AnyOperation[]): unknown }): void {
    registry.registerAll(this.getAll())
  }

  get size(): number {
    return this.#services.size
  }

  #assertNamespaceFree(config: OpenAPIConfig | undefined): void {
    const { namespace = "" } = config ?? {}
    if (!this.#services.has(namespace)) return
    throw new CallError(
      "CONFLICT",
      `The namespace "${namespace}" already has an API. Use another namespace, or call remove("${namespace}") first.`,
    )
  }

  #keep(operations: ImportedOperations, config: OpenAPIConfig): ImportedOperations {
    // Another API may have been added while this one was loading.
    this.#assertNamespaceFree(config)
    this.#services.set(config.namespace, operations)
    return operations
  }
}
