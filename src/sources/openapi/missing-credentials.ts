import { isSecretName } from "../../internal/secret-names.ts"
import { isMet } from "./auth.ts"
import type { ImportConfig, ImportResult } from "./import.ts"
import { readSecurity } from "./operation/security.ts"

/** Schemes of a document for which there is no credential: those of any alternative, one of which is enough. */
export interface MissingCredential {
  /** `bearerAuth`; or several that are needed together: `key with secret`. */
  readonly schemes: readonly string[]
  /** Operations that need one of these. */
  readonly operations: number
}

/** The credentials that a document asks for and the configuration does not have. No schema is read. */
export function missingCredentials(
  { sources }: ImportResult,
  config: ImportConfig,
): readonly MissingCredential[] {
  if (mayAuthorize(config.headers)) return []
  const missing = new Map<string, { readonly schemes: readonly string[]; operations: number }>()
  for (const { context, operation, isTwin } of sources) {
    if (isTwin) continue
    const security = readSecurity(operation, context.schemes)
    if (isMet(security, config)) continue
    const schemes = [...new Set(security.map((one) => [...one.keys()].join(" with ")))]
    const key = JSON.stringify(schemes)
    const entry = missing.get(key)
    if (entry === undefined) missing.set(key, { schemes, operations: 1 })
    else entry.operations++
  }
  return [...missing.values()]
}

/** Whether headers of the configuration may hold a credential; those of a function may hold any. */
function mayAuthorize(headers: ImportConfig["headers"]): boolean {
  if (headers === undefined) return false
  if (typeof headers === "function") return true
  const names = Symbol.iterator in headers ? [...headers.keys()] : Object.keys(headers)
  return names.some((name) => isSecretName(name, "setting"))
}
