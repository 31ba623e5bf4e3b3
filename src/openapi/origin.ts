import { Given } from "../schema/given.ts"
import type { OperationSource } from "./operation/source.ts"

class Stamped extends Given {
  readonly #source: OperationSource

  constructor(handler: object, source: OperationSource) {
    super(handler)
    this.#source = source
  }

  static sourceOf(value: object): OperationSource | undefined {
    return #source in value ? value.#source : undefined
  }
}

/** Marks a handler as that of an imported operation. */
export function withSource<THandler extends object>(
  handler: THandler,
  source: OperationSource,
): THandler {
  void new Stamped(handler, source)
  return handler
}

/** What a handler runs; `undefined` for one of anybody else. */
export function sourceOf(handler: unknown): OperationSource | undefined {
  return typeof handler === "function" ? Stamped.sourceOf(handler) : undefined
}
