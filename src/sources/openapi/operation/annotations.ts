import { isRecord } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import type { Raw } from "../document.ts"
import { readDeprecation } from "../../../core/deprecation.ts"
import { DEPRECATION_EXTENSION, SUNSET_EXTENSION } from "../../../core/openapi-marks.ts"
import type { OperationAnnotations, OperationDeprecation } from "../../../core/types.ts"

/** Methods that only read. */
export const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "QUERY"])

const KINDS = ["readOnly", "destructive", "idempotent", "openWorld"] as const

const ANNOTATIONS = new Map<string, OperationAnnotations>()

/** The annotations of an HTTP method. */
export function annotationsOf(method: string): OperationAnnotations {
  let annotations = ANNOTATIONS.get(method)
  if (annotations === undefined) {
    const readOnly = READS.has(method) || method === "OPTIONS" || method === "TRACE"
    annotations = Object.freeze({
      readOnly,
      destructive: method === "DELETE",
      idempotent: readOnly || method === "PUT" || method === "DELETE",
      openWorld: true,
    })
    // Any token may be a method; only common ones are worth caching.
    if (ANNOTATIONS.size < 32) ANNOTATIONS.set(method, annotations)
  }
  return annotations
}

/** The annotations in a document of this library; `undefined` if there are none. */
export function declaredAnnotations(value: unknown): OperationAnnotations | undefined {
  if (!isRecord(value)) return undefined
  const own = KINDS.filter((kind) => typeof getOwn(value, kind) === "boolean")
  return Object.freeze(Object.fromEntries(own.map((kind) => [kind, value[kind]])))
}

/**
 * The dates of a deprecated operation: those of this library, `x-sunset`, and those of `x-ms-deprecation`.
 *
 * An operation that replaces it has the same id here only if the namespace is the same.
 */
export function declaredDeprecation(raw: Raw, namespace: string): OperationDeprecation | undefined {
  if (raw["deprecated"] !== true) return undefined
  const own = recordAt(raw, DEPRECATION_EXTENSION)
  const other = recordAt(raw, "x-ms-deprecation")
  const { replacedBy } = own
  return readDeprecation({
    since: own["since"] ?? other["date"],
    sunset: own["sunset"] ?? getOwn(raw, SUNSET_EXTENSION) ?? other["removalDate"],
    link: own["link"],
    ...(String(replacedBy).startsWith(`${namespace}.`) && { replacedBy }),
  })
}

function recordAt(raw: Raw, key: string): Raw {
  const value = getOwn(raw, key)
  return isRecord(value) ? value : {}
}
