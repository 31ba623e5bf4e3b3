import type { OperationSpec } from "../api/model.ts"

/** One requirement for a caller. */
export interface AccessRule {
  readonly text: string
  readonly names: readonly string[]
}

/** The requirements for a caller, one rule each; empty if anyone may call. */
export function accessRules({ accessControl }: Pick<OperationSpec, "accessControl">): AccessRule[] {
  const { requiredScopes, requiredScopesAny = [] } = accessControl
  const { resourceType, resourceAction, resourceIdPath } = accessControl
  const rules: AccessRule[] = []
  if (requiredScopes.length > 0) {
    const text = requiredScopes.length === 1 ? "The scope" : "Every one of the scopes"
    rules.push({ text, names: requiredScopes })
  }
  if (requiredScopesAny.length > 0) {
    rules.push({ text: "At least one of the scopes", names: requiredScopesAny })
  }
  if (resourceType !== undefined) {
    const may = resourceAction === undefined ? "A permission" : `Permission to “${resourceAction}”`
    rules.push({ text: `${may} on a resource of the type`, names: [resourceType] })
    if (resourceIdPath !== undefined) {
      rules.push({
        text: "That resource is the one that the input names at",
        names: [resourceIdPath],
      })
    }
  }
  return rules
}
