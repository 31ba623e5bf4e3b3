import type { OperationContext } from "../../core/handler.ts"
import type { CarriesTrace } from "../../core/tracing.ts"
import { CallError } from "../../core/errors.ts"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import { addSignalListener, removeSignalListener } from "../../internal/signals.ts"

/** The abort signal of a request; `end` releases its timer and listener. */
export interface CallLimits {
  readonly signal: AbortSignal
  end(): void
}

/** Combines the caller's signal with the timeout of the request. */
export function createCallLimits(
  context: HandlerContext | undefined,
  timeout: number | undefined,
  operationId: string,
): CallLimits {
  const parent = context?.signal
  // No second timer if the registry ends the call earlier.
  if (parent !== undefined && timeout !== undefined && endsWithin(context, timeout)) {
    return { signal: parent, end: () => undefined }
  }
  const deadline = parent === undefined ? context?.deadline : undefined
  const left = deadline === undefined ? undefined : Math.max(0, deadline - wallTimeOf(systemClock))
  const limit = Math.min(timeout ?? Number.POSITIVE_INFINITY, left ?? Number.POSITIVE_INFINITY)
  if (parent !== undefined && limit === Number.POSITIVE_INFINITY) {
    return { signal: parent, end: () => undefined }
  }
  const controller = new AbortController()
  const entry = { handleEvent: () => controller.abort(parent?.reason) }
  if (parent?.aborted === true) entry.handleEvent()
  else if (parent !== undefined) addSignalListener(parent, entry)
  const timer =
    limit === Number.POSITIVE_INFINITY
      ? undefined
      : systemClock.setTimeout(() => {
          const message = `The request of "${operationId}" took longer than its ${limit} ms.`
          controller.abort(new CallError("TIMEOUT", message, { operationId }))
        }, limit)
  return {
    signal: controller.signal,
    end: () => {
      if (timer !== undefined) systemClock.clearTimeout(timer)
      if (parent !== undefined) removeSignalListener(parent, entry)
    },
  }
}

function endsWithin(context: HandlerContext | undefined, timeout: number): boolean {
  const deadline = context?.deadline
  return deadline !== undefined && deadline - wallTimeOf(systemClock) <= timeout
}

/** The context of a handler; complete when a registry calls it. */
export type HandlerContext = Partial<
  Pick<
    OperationContext,
    "signal" | "deadline" | "log" | "identity" | "revalidate" | "idempotencyKey" | "metadata"
  >
> &
  CarriesTrace
