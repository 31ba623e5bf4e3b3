import type { CallError } from "../../core/errors.ts"
import type { Identity } from "../../core/types.ts"

/** A call that waits for a slot. */
export interface WaitingCall {
  readonly operationId: string
  /** Runs it in a slot that was already taken for it; `false` when it can no longer run. */
  start(): boolean
}

/** The usage of one caller over all of its links, so that more links do not raise its limits. */
export interface CallAccount {
  /** Charges calls; returns the error when the caller is over its limit. */
  charge(calls: number): CallError | undefined
  /** Takes a slot for a call, unless `max` are in use. */
  tryEnter(max: number): boolean
  /** Releases a slot, and starts a queued call. */
  leave(): void
  /** Queues a call until fewer than `max` run, unless `maxQueued` wait already. */
  enqueue(call: WaitingCall, max: number, maxQueued: number): boolean
  dequeue(call: WaitingCall): void
  /** Takes a slot for a stream, unless `max` are open. */
  tryStream(max: number): boolean
  leaveStream(): void
}

/** Returns the account that calls of an identity are charged to. */
export type AccountOf = (identity: Identity | undefined) => CallAccount
