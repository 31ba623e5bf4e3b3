import { allows, requirementOf } from "../core/access.ts"
import { HTTPRefusal } from "../serve/http/context.ts"
import type { HTTPContext } from "../serve/http/context.ts"
import type { HTTPCaller } from "../serve/caller.ts"

/** The scope of those who may see what goes on in a hub. */
const ADMIN_SCOPE = "hub:admin"

const REQUIREMENT = requirementOf({ requiredScopes: [ADMIN_SCOPE] })

/**
 * Throws a 403 unless a caller may see what goes on in a hub: who calls what, and how sources are doing.
 *
 * Where nobody is asked who they are, only this machine is let in, and everybody on it may.
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
