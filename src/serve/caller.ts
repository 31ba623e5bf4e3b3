import type { CallError } from "../core/errors.ts"
import type { Identity } from "../core/types.ts"

/** Who a request is from, as the guard found out. */
export interface HTTPCaller {
  readonly identity: Identity | undefined
  /** Epoch milliseconds from which on the identity holds no more: streams end then. */
  readonly expiresAt: number | undefined
  /** Pays for calls beyond the one that the request itself is; gives why they may not be. */
  charge(calls?: number): CallError | undefined
  /** Whose account the request counts on: an identity or an address. */
  readonly account: string
  /** Takes slots for calls that run beside the first; gives how many were free. */
  takeSlots(most: number): number
  /** Makes the request a stream, which counts among streams; gives why it may not be one. */
  openStream(): CallError | undefined
}
