import { isRecord } from "../internal/guards.ts"
import { lazyPartsOf } from "./lazy-operation.ts"
import type { OperationRequest } from "./lazy-operation.ts"
import type { OperationSpec } from "./types.ts"

/** The request of an operation from an OpenAPI document, without reading the operation. */
export function requestOf(spec: OperationSpec): OperationRequest | undefined {
  const parts = lazyPartsOf(spec)
  if (parts !== undefined) return parts.request
  const openapi = spec._meta?.["openapi"]
  if (!isRecord(openapi)) return undefined
  const { method, path } = openapi
  return typeof method === "string" && typeof path === "string" ? { method, path } : undefined
}
