import { type CallError, refusal } from "./errors.ts"
import { parsePointer, valueAt } from "../internal/pointer.ts"
import { reading } from "../internal/brands.ts"
import type { AccessControl, Identity } from "./types.ts"

/**
 * Whether an identity meets an operation's requirements. Anything unclear is denied.
 *
 * `input` is used only for `resourceIdPath`.
 */
export function checkAccess(
  accessControl: AccessControl,
  identity?: Identity,
  input?: unknown,
): boolean {
  return allows(requirementOf(accessControl), identity, input)
}

/** Throws `ACCESS_DENIED` unless `checkAccess` returns true. */
export function enforceAccess(
  accessControl: AccessControl,
  identity: Identity | undefined,
  operationId: string,
  input?: unknown,
): void {
  const requirement = requirementOf(accessControl)
  if (!allows(requirement, identity, input)) throw denial(requirement, identity, operationId)
}

/** A parsed `AccessControl`. */
export interface AccessRequirement {
  readonly all: readonly string[]
  readonly any: readonly string[]
  readonly resourceType: string | undefined
  readonly resourceAction: string | undefined
  /** Keys of the resource's id in the input; `null` if the pointer is malformed: then every input is denied. */
  readonly resourceId: readonly string[] | null | undefined
}

/** Parses an `AccessControl`; `undefined` if nothing is required. Throws a `TypeError` if it is malformed: that must never mean "open". */
export function requirementOf(accessControl: AccessControl): AccessRequirement | undefined {
  return reading("accessControl", () => parseAccessControl(accessControl))
}

function parseAccessControl(accessControl: AccessControl): AccessRequirement | undefined {
  if (typeof accessControl !== "object" || accessControl === null) {
    throw new TypeError("accessControl must be an object, such as { requiredScopes: [] }.")
  }
  const { requiredScopes, requiredScopesAny = [] } = accessControl
  if (!isStrings(requiredScopes)) {
    throw new TypeError("accessControl.requiredScopes must be an array of strings.")
  }
  if (!isStrings(requiredScopesAny)) {
    throw new TypeError("accessControl.requiredScopesAny must be an array of strings.")
  }
  const { resourceType, resourceAction, resourceIdPath } = accessControl
  const needsResource =
    resourceType !== undefined || resourceAction !== undefined || resourceIdPath !== undefined
  if (requiredScopes.length === 0 && requiredScopesAny.length === 0 && !needsResource) {
    return undefined
  }
  return {
    all: requiredScopes,
    any: requiredScopesAny,
    resourceType: needsResource ? (resourceType ?? "") : undefined,
    resourceAction,
    resourceId: resourceIdPath === undefined ? undefined : (parsePointer(resourceIdPath) ?? null),
  }
}

/** Whether an identity meets a requirement. */
export function allows(
  requirement: AccessRequirement | undefined,
  identity: unknown,
  input: unknown,
): boolean {
  if (requirement === undefined) return true
  if (typeof identity !== "object" || identity === null) return false
  try {
    return meets(requirement, identity, input)
  } catch {
    // An identity or an input that cannot be read grants nothing.
    return false
  }
}

function meets(requirement: AccessRequirement, identity: object, input: unknown): boolean {
  const { all, any } = requirement
  if (all.length > 0 || any.length > 0) {
    const scopes = ownValue(identity, "scopes")
    if (!isStrings(scopes)) return false
    // Loops, because closures would be most of the cost of a scope check.
    for (let at = 0; at < all.length; at++)
      if (!includesString(scopes, all[at] as string)) return false
    if (any.length > 0 && !any.some((scope) => includesString(scopes, scope))) return false
  }
  if (requirement.resourceType === undefined) return true
  return allowsResource(requirement, requirement.resourceType, identity, input)
}

/** The error for a requirement that was not met. */
export function denial(
  requirement: AccessRequirement | undefined,
  identity: unknown,
  operationId: string,
): CallError<"ACCESS_DENIED"> {
  const who =
    identity === undefined || identity === null
      ? "an identity is required"
      : "the identity lacks what it requires"
  const needs: string[] = []
  const details: Record<string, unknown> = { operationId }
  if (requirement !== undefined) {
    details["requiredScopes"] = requirement.all
    if (requirement.all.length > 0)
      needs.push(`the scope${requirement.all.length > 1 ? "s" : ""} ${quoteAll(requirement.all)}`)
    if (requirement.any.length > 0) {
      details["requiredScopesAny"] = requirement.any
      needs.push(`one of the scopes ${quoteAll(requirement.any)}`)
    }
    if (requirement.resourceType !== undefined) {
      details["resourceType"] = requirement.resourceType
      details["resourceAction"] = requirement.resourceAction
      needs.push(
        `the action "${requirement.resourceAction ?? "any"}" on ${
          requirement.resourceId === undefined ? "a" : "that"
        } "${requirement.resourceType}"`,
      )
    }
  }
  const hint = needs.length === 0 ? "" : ` It needs ${needs.join(" and ")}.`
  return refusal("ACCESS_DENIED", `Access to "${operationId}" is denied: ${who}.${hint}`, {
    details,
    operationId,
  })
}

function allowsResource(
  requirement: AccessRequirement,
  type: string,
  identity: object,
  input: unknown,
): boolean {
  const resources = ownValue(identity, "resources")
  if (type === "" || typeof resources !== "object" || resources === null) return false
  const { resourceId } = requirement
  if (resourceId === undefined) {
    return Object.keys(resources).some(
      (key) => key.startsWith(`${type}:`) && permits(resources, key, requirement.resourceAction),
    )
  }
  if (resourceId === null) return false
  const id = valueAt(input, resourceId)
  if (typeof id !== "string" && typeof id !== "number") return false
  return permits(resources, `${type}:${id}`, requirement.resourceAction)
}

function permits(resources: object, key: string, action: string | undefined): boolean {
  const actions = ownValue(resources, key)
  if (!Array.isArray(actions)) return false
  return action === undefined ? actions.length > 0 : includesString(actions, action)
}

/** Reads own data properties only: getters and inherited properties grant nothing. */
function ownValue(holder: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value
}

/** Compares by index, because an array may override `includes`. */
function includesString(list: readonly unknown[], wanted: string): boolean {
  for (let index = 0; index < list.length; index++) if (list[index] === wanted) return true
  return false
}

function isStrings(value: unknown): value is readonly string[] {
  if (!Array.isArray(value)) return false
  for (let at = 0; at < value.length; at++) if (typeof value[at] !== "string") return false
  return true
}

function quoteAll(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ")
}
