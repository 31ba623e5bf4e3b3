import { allows, requirementOf } from "../core/access.ts"
import { HTTPRefusal } from "../serve/http/context.ts"
import type { HTTPContext } from "../serve/http/context.ts"
import type { HTTPCaller } from "../serve/caller.ts"

/** Scope that allows a caller to see the activity of a hub. */
const ADMIN_SCOPE = "hub:admin"

const REQUIREMENT = requirementOf({ requiredScopes: [ADMIN_SCOPE] })

/**
 * Throws a 403 unless a caller may see the activity of a hub: who calls what, and the state of sources.
 *
 * Without authentication only this machine can connect, and everyone on it may see it.
 */
export function assertAdmin({ options }: HTTPContext, { identity }: HTTPCaller): void {
  const isOpen = options.auth === undefined && options.authenticate === undefined
  if (isOpen || allows(REQUIREMENT, identity, undefined)) return
  throw new HTTPRefusal(
    403,
    "ACCESS_DENIED",
    `This needs the scope "${ADMIN_SCOPE}". Add it to "scopes" of the key in "server.apiKeys", or to the token.`,
    { retryable: false, details: { requiredScopes: [ADMIN_SCOPE] } },
  )
}
