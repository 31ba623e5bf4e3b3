import type { OperationSource } from "./operation/source.ts"

/** Private to this file: nobody else can mark a handler. A `WeakMap` would cost ten times as much. */
const SOURCE: unique symbol = Symbol("source")

/** Marks a handler as that of an imported operation. */
export function withSource<THandler extends object>(
  handler: THandler,
  source: OperationSource,
): THandler {
  ;(handler as { [SOURCE]?: OperationSource })[SOURCE] = source
  return handler
}

/** What a handler runs; `undefined` for one of anybody else. */
export function sourceOf(handler: unknown): OperationSource | undefined {
  if (typeof handler !== "function" || !Object.hasOwn(handler, SOURCE)) return undefined
  return (handler as { [SOURCE]?: OperationSource })[SOURCE]
}
