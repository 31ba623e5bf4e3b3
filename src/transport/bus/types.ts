import type { CallError } from "../../core/errors.ts"

/**
 * The interface of a broker: it carries text messages to one worker, to any worker of an operation, to all
 * workers and to all callers. Messages may get lost.
 *
 * NATS, Redis and the simulation implement it; the delivery guarantees on top are the same for all.
 */
export interface Bus {
  /** The address of this end: letters and digits, new for every transport. */
  readonly address: string
  readonly isConnected: boolean
  /** The maximum size of a message in bytes; an assumption until it is connected. */
  readonly maxPayload: number
  /** The broker itself chooses a worker of an operation. Otherwise callers choose. */
  readonly hasQueues: boolean
  /**
   * Why tickets must be neither sent nor accepted over the current connection; `undefined` if they may be.
   *
   * Checked for every ticket: another server of a cluster may have another version.
   */
  ticketRisk?(): string | undefined
  /** Starts connecting and listening. Called once. */
  open(receiver: BusReceiver): void
  /**
   * Sends a request to any worker of an operation; only where `hasQueues`.
   *
   * This and all other sending methods throw a `CallError` when a message cannot be sent, such as `PAYLOAD_TOO_LARGE`.
   * `receiver.noResponders` is called with `correlationId` if there was no receiver.
   */
  toAny(operationId: string, text: string, correlationId: string): void
  /** Sends a request to one worker; the operation is part of the address, for the broker's permissions. */
  toWorker(worker: string, operationId: string, text: string, correlationId: string): void
  /** Sends any other message to one worker: grants, pings, aborts. */
  control(worker: string, text: string, correlationId: string): void
  /** Sends a request to every worker; the operation as in `toWorker`. */
  toAll(operationId: string, text: string, correlationId: string): void
  /** Asks every worker what it serves. */
  ask(text: string, correlationId: string): void
  /** Sends an answer. `reply` came with a message of the caller. */
  answer(reply: string, text: string): void
  /** Sends to all callers. */
  announce(text: string): void
  /**
   * Receives requests for exactly these operations from now on; with `undefined` for none.
   *
   * Messages to this worker itself are received until it is closed.
   */
  serve(operationIds: readonly string[] | undefined): void
  /** Back pressure: a promise while too much waits to be sent. */
  ready?(): Promise<void> | undefined
  /** Sends what is queued, and closes. Closing twice is fine. */
  close(): Promise<void>
}

/** The origin of a caller's message; taken from the broker, never from the message itself. */
export interface MessageOrigin {
  /** The user in the address that the message was sent to. Trustworthy only if the broker enforces users. */
  readonly user: string
  /** The caller's own address. */
  readonly address: string
  /** Where answers go. */
  readonly reply: string
  /** The operation's part of the address, for requests. */
  readonly operationId: string | undefined
}

/** Receives the messages and states of a bus. Its methods do not throw. */
export interface BusReceiver {
  /** A message of a caller to this worker, or to any worker. */
  fromCaller(text: string, caller: MessageOrigin): void
  /** An answer or an announcement of a worker. */
  fromWorker(text: string): void
  /** Nobody received the message with this correlation id. */
  noResponders(correlationId: string): void
  /** The broker did not permit the message with this correlation id. */
  denied(correlationId: string, error: CallError): void
  /** The broker is connected, for the first time or again. */
  connected(): void
  /**
   * The broker is unreachable, and why; reconnecting continues. With an error, such as for credentials that it no longer
   * accepts, calls fail at once until it is connected.
   */
  disconnected(reason?: string, error?: CallError): void
  /** It will never be connected, such as with wrong credentials. */
  failed(error: CallError): void
}
