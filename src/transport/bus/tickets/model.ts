import type { Identity } from "../../../core/types.ts"

/** The call that a ticket is for; it is valid for no other. */
export interface TicketSubject {
  readonly operationId: string
  readonly requestId: string
  /** The timeout of the call, in milliseconds. */
  readonly timeout: number
  /** The input of the call. */
  readonly input?: unknown
  /** The broker user that sent the call, for the verifier. */
  readonly user?: string | undefined
}

/** Signs the identity of a caller. */
export interface TicketSigner {
  sign(identity: Identity, subject: TicketSubject): Promise<string>
}

/** Verifies tickets. Rejects with an `UNAUTHENTICATED` error; the reason goes only to the log. */
export interface TicketVerifier {
  verify(ticket: string, subject: Omit<TicketSubject, "timeout">): Promise<Identity>
}
