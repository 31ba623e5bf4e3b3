import type { Identity } from "../../../core/types.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { WorkerDependencies } from "./state.ts"
import { noVerifier, unsafeTicket } from "./refusals.ts"

type Identifying = Pick<WorkerDependencies, "identify" | "verifier" | "ticketRisk">
type Request = CallerMessage & { readonly type: "request" }

/**
 * Identifies the caller: by its ticket, else by its user; otherwise it is anonymous.
 *
 * Throws or rejects for an invalid ticket, which never falls back to another identity.
 */
export function identityOf(
  { event, ticket }: Request,
  user: string,
  { identify, verifier, ticketRisk }: Identifying,
): Identity | undefined | Promise<Identity | undefined> {
  if (ticket === undefined) return identify?.(user)
  const { operationId, requestId, input } = event
  if (verifier === undefined) throw noVerifier(operationId)
  const risk = ticketRisk?.()
  if (risk !== undefined) throw unsafeTicket(operationId, risk)
  return verifier.verify(ticket, { operationId, requestId, user, input })
}

/** The event without a claimed identity, if a ticket proves the identity. */
export function withoutClaim({ event, ticket }: Request): Request["event"] {
  if (ticket === undefined || event.identity === undefined) return event
  const { identity: _, ...rest } = event
  return rest
}
