import type { CallError } from "../../core/errors.ts"

/**
 * What a broker has to offer so that calls can be guarded on it: messages of text to one, to any of those who
 * serve an operation, to all who serve and to all who call. None of them is certain to arrive.
 *
 * NATS, Redis and the simulation are three of these; the guard is the same on all.
 */
export interface Bus {
  /** What this process is reached by: letters and digits, new for every transport that is made. */
  readonly address: string
  readonly isConnected: boolean
  /** Bytes that one message may have; known once it is connected, an assumption before. */
  readonly maxPayload: number
  /** The broker itself finds one of those who serve an operation. Without it callers choose. */
  readonly hasQueues: boolean
  /**
   * Why a ticket must be neither sent nor accepted over the present connection; `undefined` where it may be.
   *
   * Asked for every ticket: another server of a cluster may be another version.
   */
  ticketRisk?(): string | undefined
  /** Starts connecting and listening. Called once. */
  open(receiver: BusReceiver): void
  /**
   * A request to any one of those who serve an operation; only where `hasQueues`.
   *
   * This and all other sending throws a `CallError` when a message cannot leave, such as `PAYLOAD_TOO_LARGE`.
   * `receiver.unheard` is told `mark` when nobody listened.
   */
  toAny(operationId: string, text: string, mark: string): void
  /** A request to one worker; the operation is part of the address, so that a broker can permit it. */
  toWorker(worker: string, operationId: string, text: string, mark: string): void
  /** Anything else to one worker: grants, pings, that a caller left. */
  control(worker: string, text: string, mark: string): void
  /** To every worker; the operation as in `toWorker`. */
  toAll(operationId: string, text: string, mark: string): void
  /** Who serves, and what: to every worker. */
  ask(text: string, mark: string): void
  /** An answer. `reply` is what came with something that this caller sent. */
  answer(reply: string, text: string): void
  /** To everybody who calls. */
  announce(text: string): void
  /**
   * Takes requests for these operations from now on, and for no others; with `undefined` for none.
   *
   * What comes for this very worker is heard until it is closed.
   */
  serve(operationIds: readonly string[] | undefined): void
  /** A promise while too much waits to be sent. */
  ready?(): Promise<void> | undefined
  /** Sends what waits, and ends. Twice is fine. */
  close(): Promise<void>
}

/** Where a message of a caller came from; all of it as the broker says, nothing as the message does. */
export interface BusCaller {
  /** The caller's segment of the address that it sent to. Believe it where the broker enforces it. */
  readonly user: string
  /** The caller's own address. */
  readonly address: string
  /** Where answers go. */
  readonly reply: string
  /** The operation's part of the address, for requests. */
  readonly operationId: string | undefined
}

/** What a bus tells the guard. Nothing here throws. */
export interface BusReceiver {
  /** A message of a caller to this worker, or to any. */
  fromCaller(text: string, caller: BusCaller): void
  /** A message of a worker: an answer, or an announcement. */
  fromWorker(text: string): void
  /** Nobody listened where a message with this mark went. */
  unheard(mark: string): void
  /** The broker did not let a message with this mark through. */
  denied(mark: string, error: CallError): void
  /** The broker is reached, for the first time or again. */
  connected(): void
  /**
   * The broker is out of reach, and why; it is tried again. With an error, such as for credentials that it takes no
   * longer, calls fail at once until it is reached.
   */
  disconnected(reason?: string, error?: CallError): void
  /** It will never be reached, such as with credentials that it refuses. */
  failed(error: CallError): void
}
