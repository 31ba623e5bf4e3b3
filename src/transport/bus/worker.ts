import type { CallEvent } from "../../call-events.ts"
import type { Logger } from "../../logger.ts"
import type { Clock } from "../../platform.ts"
import type { ServedOperations, TransportReceiver } from "../types.ts"
import type { BusOptions, GuardSettings } from "./options.ts"
import type { ServingStats } from "./stats.ts"
import type { Bus, BusCaller } from "./types.ts"

/** What a guarded worker goes by besides its bus. */
export interface WorkerParts extends Pick<BusOptions, "identify" | "verifier"> {
  readonly clock: Clock
  readonly logger: Logger
}

/** The serving end of the guard. */
export declare class GuardedWorker {
  constructor(bus: Bus, settings: GuardSettings, parts: WorkerParts)
  open(receiver: TransportReceiver): void
  /** Takes requests from now on. */
  serve(served: ServedOperations): void
  /** Takes no more; what was accepted and not granted goes elsewhere, what runs goes on. */
  leave(): void
  /** A result, an item, an end, an error or progress. Throws `PAYLOAD_TOO_LARGE` for what does not fit. */
  send(event: CallEvent): void
  fromCaller(text: string, caller: BusCaller): void
  /** The broker is reached (again): says what is served. */
  connected(): void
  stats(): ServingStats
  close(): void
}
