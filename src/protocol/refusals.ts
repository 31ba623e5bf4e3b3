import { refusal, type CallError } from "../core/errors.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import type { Identity, OperationSpec } from "../core/types.ts"

// Errors for requests that were not run, or were ended early.

export function missing(
  registry: AnyRegistry,
  operationId: string,
  identity: Identity | undefined,
): CallError {
  const own = registry as Partial<{
    missing(id: string, identity: Identity | undefined): CallError
  }>
  return (
    own.missing?.(operationId, identity) ??
    refusal("OPERATION_NOT_FOUND", `Operation "${operationId}" is not registered.`, {
      details: { operationId },
      operationId,
    })
  )
}

export function wrongKind(operationId: string, { type }: OperationSpec): CallError {
  const [right, used] = type === "subscription" ? ["subscribe", "call"] : ["call", "subscribe"]
  const message = `"${operationId}" is a ${type}: use ${right}(), not ${used}().`
  return refusal("INVALID_OPERATION_TYPE", message, { operationId, details: { operationId, type } })
}

/** The error of a server that is closing, or ends requests for the reason `why`. */
export function closing(operationId: string, mayHaveExecuted: boolean, why?: CallError): CallError {
  const { code, message } = why ?? { code: "UNAVAILABLE", message: "the server was closed." }
  const terms = why === undefined ? { retryable: !mayHaveExecuted } : {}
  const text = `"${operationId}" has no answer: ${message}`
  return refusal(code, text, { operationId, mayHaveExecuted, ...terms })
}
