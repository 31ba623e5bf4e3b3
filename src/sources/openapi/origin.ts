import { ORIGIN } from "../../core/dry-run.ts"
import type { OperationSource } from "./operation/source.ts"

/** Tags a handler with its imported operation. A `WeakMap` would cost ten times as much. */
export function withSource<THandler extends object>(
  handler: THandler,
  source: OperationSource,
): THandler {
  ;(handler as { [ORIGIN]?: OperationSource })[ORIGIN] = source
  return handler
}

/** The imported operation of a handler; `undefined` for other handlers. */
export function sourceOf(handler: unknown): OperationSource | undefined {
  if (typeof handler !== "function" || !Object.hasOwn(handler, ORIGIN)) return undefined
  return (handler as { [ORIGIN]?: OperationSource })[ORIGIN]
}
