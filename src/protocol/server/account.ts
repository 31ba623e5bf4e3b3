import type { CallError } from "../../core/errors.ts"
import type { Identity } from "../../core/types.ts"

/** A call that waits for a slot. */
export interface WaitingCall {
  /** Runs it in a slot that was taken for it; `false` when it cannot run any more. */
  start(): boolean
}

/** What one caller uses over several links, so that further links give it no more. */
export interface CallAccount {
  /** Pays for calls; gives the refusal when the caller has had its share. */
  charge(calls: number): CallError | undefined
  /** Takes a slot for a call, unless `most` are taken. */
  tryEnter(most: number): boolean
  /** Gives a slot back, and starts a call that waits for one. */
  leave(): void
  /** Lets a call wait until fewer than `most` run, unless `mostQueued` wait already. */
  enqueue(call: WaitingCall, most: number, mostQueued: number): boolean
  dequeue(call: WaitingCall): void
  /** Takes a slot for a stream, unless `most` are open. */
  tryStream(most: number): boolean
  leaveStream(): void
}

/** Gives the account on which calls of an identity count. */
export type AccountOf = (identity: Identity | undefined) => CallAccount
