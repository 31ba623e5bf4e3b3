import type { Identity } from "../../../core/types.ts"

/** What a ticket is for: it holds for nothing else. */
export interface TicketSubject {
  readonly operationId: string
  readonly requestId: string
  /** Milliseconds that the call may take. */
  readonly timeout: number
  /** What the operation is called with. */
  readonly input?: unknown
  /** The user of the broker that the call came from, for who checks. */
  readonly user?: string | undefined
}

/** Signs who a call is for. */
export interface TicketSigner {
  sign(identity: Identity, subject: TicketSubject): Promise<string>
}

/** Reads what a signer wrote. Rejects with an `UNAUTHENTICATED` error that says why to the log alone. */
export interface TicketVerifier {
  verify(ticket: string, subject: Omit<TicketSubject, "timeout">): Promise<Identity>
}
