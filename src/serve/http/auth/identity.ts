import type { Identity } from "../../../core/types.ts"

/** Whether a value is an identity. */
export function isIdentity(value: unknown): value is Identity {
  if (typeof value !== "object" || value === null) return false
  const { id, scopes } = value as Partial<Identity>
  if (typeof id !== "string" || id === "" || !Array.isArray(scopes)) return false
  return scopes.every((scope) => typeof scope === "string")
}
