import type { CallError } from "../../../core/errors.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { TransportReceiver } from "../../../protocol/transport.ts"
import type { CallerPeers } from "./callers.ts"
import { errorEvent } from "../../../core/error-event.ts"
import type { BusOptions, GuardSettings } from "../options.ts"
import type { ServingStats } from "../stats.ts"
import type { WorkerCalls } from "./calls.ts"
import type { WorkerEntry } from "./entry.ts"
import { acceptedText } from "../wire/short-messages.ts"
import type { WorkerOffer } from "./offer.ts"

/** What a guarded worker goes by besides its bus. */
export interface WorkerParts extends Pick<BusOptions, "identify" | "verifier"> {
  /** Why no ticket is accepted over the present connection. */
  readonly ticketRisk?: (() => string | undefined) | undefined
  readonly clock: Clock
  readonly logger: Logger
  /** From 0 to 1, for the keys of grants; the platform's own when left out. */
  readonly random?: (() => number) | undefined
}

/** What a worker counts as it happens. */
export type WorkerCounts = {
  -readonly [
    TKey in "refused" | "notGranted" | "callersLost" | "stalls" | "dropped"
  ]: ServingStats[TKey]
}

/** What the parts of a worker work on together. */
export interface WorkerDesk {
  readonly settings: GuardSettings
  readonly parts: WorkerParts
  readonly offer: WorkerOffer
  readonly callers: CallerPeers
  readonly calls: WorkerCalls
  readonly counts: WorkerCounts
  readonly receiver: () => TransportReceiver | undefined
}

/** Says that a request is here, and whether it runs. */
export function sayAccepted(entry: WorkerEntry): void {
  const { idText, attempt, key, isIdempotent, state } = entry
  const runs = state === "running"
  const { text, head } = acceptedText(idText, { attempt, key, isIdempotent, runs })
  entry.caller.outbox.add(text, head)
}

/** It was accepted, has not begun, and never will: another worker may take it. */
export function disown({ calls, counts }: WorkerDesk, entry: WorkerEntry, why: CallError): void {
  const { id, attempt, key, caller } = entry
  calls.forget(entry)
  counts.refused++
  const error = errorEvent(id, why)
  caller.say({ type: "refused", id, attempt, key, elsewhere: true, error })
}

/** Nobody wants it any more. */
export function giveUp(
  { calls, counts, receiver }: WorkerDesk,
  entry: WorkerEntry,
  reason: string | undefined,
): void {
  const { state, id: requestId, peer } = entry
  calls.forget(entry)
  if (state === "waiting" || state === "checking") counts.notGranted++
  if (state === "running") receiver()?.event({ type: "call.aborted", requestId, reason }, peer)
}
