import type { CallError } from "../core/errors.ts"
import type { Identity } from "../core/types.ts"

/** The caller of a request, as resolved by the guard. */
export interface HTTPCaller {
  readonly identity: Identity | undefined
  /** Expiry of the identity in epoch milliseconds: streams end then. */
  readonly expiresAt: number | undefined
  /** Charges for calls beyond the request itself; returns an error when they are over the limit. */
  charge(calls?: number): CallError | undefined
  /** Key of the account that is charged: an identity or an address. */
  readonly account: string
  /** Calls back when the credential is taken away: streams end then. Returns a function that unsubscribes. */
  onRevoked(listener: () => void): () => void
  /** Takes slots for further concurrent calls; returns how many were free. */
  takeSlots(most: number): number
  /** Counts the request as a stream; returns an error when there are too many. */
  openStream(): CallError | undefined
}
