import type { Identity } from "../../../core/types.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { WorkerParts } from "./state.ts"
import { noVerifier, unsafeTicket } from "./refusals.ts"

type Identifying = Pick<WorkerParts, "identify" | "verifier" | "ticketRisk">
type Request = CallerMessage & { readonly type: "request" }

/**
 * Who asks: the one of the ticket, else the one of the caller's segment, else nobody in particular.
 *
 * A ticket that does not hold is an error, never somebody else. Throws or rejects then.
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

/** The request without what its ticket says better. */
export function withoutClaim({ event, ticket }: Request): Request["event"] {
  if (ticket === undefined || event.identity === undefined) return event
  const { identity: _, ...rest } = event
  return rest
}
