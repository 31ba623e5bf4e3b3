import type { OperationSource } from "./operation/source.ts"

/** Private to this file, so that only it can tag handlers. A `WeakMap` would cost ten times as much. */
const SOURCE: unique symbol = Symbol("source")

/** Tags a handler with its imported operation. */
export function withSource<THandler extends object>(
  handler: THandler,
  source: OperationSource,
): THandler {
  ;(handler as { [SOURCE]?: OperationSource })[SOURCE] = source
  return handler
}

/** The imported operation of a handler; `undefined` for other handlers. */
export function sourceOf(handler: unknown): OperationSource | undefined {
  if (typeof handler !== "function" || !Object.hasOwn(handler, SOURCE)) return undefined
  return (handler as { [SOURCE]?: OperationSource })[SOURCE]
}
