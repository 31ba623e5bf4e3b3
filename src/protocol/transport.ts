import type { CallEvent } from "../core/events.ts"
import type { CallError } from "../core/errors.ts"
import type { Identity } from "../core/types.ts"

/**
 * A connection to a peer: `send` sends events, and incoming events go to a receiver.
 *
 * Both ends may call each other over one transport. Events of one request arrive in the order in
 * which they were sent, or not at all.
 */
export interface Transport {
  /** Starts receiving. Called once, by the user of the transport. */
  open(receiver: TransportReceiver): void
  /**
   * Sends an event. Throws a `CallError` when it cannot be sent; calls `receiver.undelivered` when that
   * turns out later.
   *
   * While the peer is unreachable, events may be queued; they are later sent in order, or undelivered.
   */
  send(event: CallEvent): void
  /** Back pressure: a promise while too much waits to be sent, or a stream's caller has not received much of it. */
  ready?(stream?: string): Promise<void> | undefined
  /**
   * Closes the transport. Events that are still queued are undelivered, and requests without an answer are `lost`.
   * Closing twice is fine.
   */
  close(): Promise<void>
  /** Both ends share one process and one clock: deadlines and objects are passed as they are. */
  readonly isLocal?: boolean | undefined
  /** Both ends are parts of one application: the peer may read every error as it is. */
  readonly isOneApplication?: boolean | undefined
  /** The kind of transport, for logs: `nats`. */
  readonly surface?: string | undefined
  /** What the peer says that it is: `console`. */
  readonly client?: string | undefined
  /** Identities that the peer claims for its calls are accepted. */
  readonly isTrusted?: boolean | undefined
  /**
   * Events may arrive twice or get lost: request ids are then remembered for a while, and a stream whose reader grants nothing ends
   * when the idle timeout of its caller has passed.
   */
  readonly mayRepeat?: boolean | undefined
  /**
   * The serving end can send `call.asked`, and receives `call.answered`. Without it callers cannot be asked over this
   * transport, and handlers that ask get `UNAVAILABLE` at once.
   */
  readonly carriesQuestions?: boolean | undefined
  /** The identity of the peer, as established when it connected. */
  readonly identity?: Identity | undefined
  /** Peers may serve several versions of an operation: requests name the version that was imported. */
  readonly hasVersions?: boolean | undefined
  /** Called when this end starts serving; links to many peers announce the served operations. */
  serve?(served: ServedOperations): void
  /** Accepts no further requests; running ones continue. Not needed by links that can only be closed. */
  leave?(): void
  /** Milliseconds in which streams of a lost peer may be resumed; 0 if it does not come back. Without it they end at once. */
  readonly resumeMs?: number | undefined
  /** What is known of a request without an answer; `undefined` when nothing is. */
  deliveryStatus?(requestId: string): DeliveryStatus | undefined
}

/** The operations that one end serves, for links that announce them. */
export interface ServedOperations {
  /** The operations that a peer may call, which excludes internal ones. */
  list(): readonly ServedOperation[]
  onChange(listener: () => void): () => void
  /** The error for a further call now; `undefined` while there is room. */
  refuse(operationId: string): CallError | undefined
  /** The version of an operation; `undefined` if it is not served. */
  versionOf?(operationId: string): string | undefined
}

/** A served operation, and whether running it twice has no second effect. */
export interface ServedOperation {
  readonly id: string
  readonly isIdempotent: boolean
}

/** The delivery status of a request, for the error of a call that was given up. */
export interface DeliveryStatus {
  readonly mayHaveExecuted: boolean
  readonly retryable: boolean
}

/** The sender of an event, on a link to many peers. */
export interface TransportPeer {
  readonly identity?: Identity | undefined
  /** The name by which the peer is known to the link, such as its user at a broker. */
  readonly user?: string | undefined
}

/** Receives the events of a transport. Its methods do not throw. */
export interface TransportReceiver {
  /** An event arrived. The receiver validates it: pass anything that arrives. */
  event(event: unknown, peer?: TransportPeer): void
  /** An event that `send` accepted was not sent. */
  undelivered(event: CallEvent, error: CallError): void
  /**
   * The peer is gone, and with it all requests of both sides.
   *
   * No earlier event may arrive after this, not even when the peer comes back.
   */
  lost(error: CallError): void
  /** The peer can be reached again. */
  restored(): void
}
