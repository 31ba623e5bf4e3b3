import type { CallError } from "../../../core/errors.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { TransportReceiver } from "../../../protocol/transport.ts"
import type { CallerPeers } from "./callers.ts"
import { errorEvent } from "../../../core/error-marks.ts"
import type { BusOptions, GuardSettings } from "../options.ts"
import type { ServingStats } from "../stats.ts"
import type { WorkerCalls } from "./calls.ts"
import type { WorkerEntry } from "./entry.ts"
import { acceptedText } from "../wire/short-messages.ts"
import type { WorkerOffer } from "./offer.ts"

/** Dependencies of a `BusWorker`, injected for tests. */
export interface WorkerDependencies extends Pick<BusOptions, "identify" | "verifier"> {
  /** Why no ticket is accepted over the current connection. */
  readonly ticketRisk?: (() => string | undefined) | undefined
  readonly clock: Clock
  readonly logger: Logger
  /** A number from 0 to 1, for the keys of grants; from the platform's crypto when left out. */
  readonly random?: (() => number) | undefined
}

/** The counters of a worker. */
export type WorkerCounts = {
  -readonly [
    TKey in "refused" | "notGranted" | "callersLost" | "stalls" | "dropped"
  ]: ServingStats[TKey]
}

/** The state that the parts of a worker share. */
export interface WorkerState {
  readonly settings: GuardSettings
  readonly dependencies: WorkerDependencies
  readonly offer: WorkerOffer
  readonly callers: CallerPeers
  readonly calls: WorkerCalls
  readonly counts: WorkerCounts
  readonly receiver: () => TransportReceiver | undefined
}

/** Sends `accepted` for a request, and whether it runs. */
export function sendAccepted(entry: WorkerEntry): void {
  const { idText, attempt, key, isIdempotent, state } = entry
  const runs = state === "running"
  const { text, head } = acceptedText(idText, { attempt, key, isIdempotent, runs })
  entry.caller.outbox.add(text, head)
}

/** Refuses a request after it was accepted: it has not begun, and another worker may take it. */
export function refuseAccepted(
  { calls, counts }: WorkerState,
  entry: WorkerEntry,
  why: CallError,
): void {
  const { id, attempt, key, caller } = entry
  calls.forget(entry)
  counts.refused++
  const error = errorEvent(id, why)
  caller.send({ type: "refused", id, attempt, key, elsewhere: true, error })
}

/** Gives up a request, and stops its handler. */
export function giveUp(
  { calls, counts, receiver }: WorkerState,
  entry: WorkerEntry,
  reason: string | undefined,
): void {
  const { state, id: requestId, peer } = entry
  calls.forget(entry)
  if (state === "waiting" || state === "checking") counts.notGranted++
  if (state === "running") receiver()?.event({ type: "call.aborted", requestId, reason }, peer)
}
