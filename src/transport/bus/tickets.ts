import type { Identity } from "../../types.ts"

/** What a ticket is for: it holds for nothing else. */
export interface TicketSubject {
  readonly operationId: string
  readonly requestId: string
  /** Milliseconds that the call may take. */
  readonly timeout: number
}

/** Signs who a call is for. */
export interface TicketSigner {
  sign(identity: Identity, subject: TicketSubject): Promise<string>
}

/** Reads what a signer wrote. Rejects with an `UNAUTHENTICATED` error that says why to the log alone. */
export interface TicketVerifier {
  verify(ticket: string, subject: Omit<TicketSubject, "timeout">): Promise<Identity>
}
