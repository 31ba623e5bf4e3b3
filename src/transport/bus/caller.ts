import type { CallEvent } from "../../call-events.ts"
import type { Logger } from "../../logger.ts"
import type { Clock } from "../../platform.ts"
import type { CallFate, TransportReceiver } from "../types.ts"
import type { GuardSettings } from "./options.ts"
import type { CallingStats } from "./stats.ts"
import type { TicketSigner } from "./tickets.ts"
import type { Bus } from "./types.ts"

/** What a guarded caller goes by besides its bus. */
export interface CallerParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly signer?: TicketSigner | undefined
}

/** The calling end of the guard. */
export declare class GuardedCaller {
  constructor(bus: Bus, settings: GuardSettings, parts: CallerParts)
  open(receiver: TransportReceiver): void
  /** Whether a request is one of those that wait here. */
  has(requestId: string): boolean
  /** A request, that its caller left, or credit. Throws a `CallError` for a request that cannot be sent. */
  send(event: CallEvent): void
  fateOf(requestId: string): CallFate | undefined
  fromWorker(text: string): void
  unheard(mark: string): void
  connected(): void
  disconnected(): void
  stats(): CallingStats
  close(): void
}
