import type { CallEvent } from "../core/events.ts"
import type { CallError } from "../core/errors.ts"
import type { Identity } from "../core/types.ts"

/**
 * A way to one peer: events go out with `send`, and what comes in is handed to a receiver.
 *
 * Both ends may call each other over one transport. Events of one request arrive in the order in
 * which they were sent, or not at all.
 */
export interface Transport {
  /** Starts listening. Called once, by whoever uses the transport. */
  open(receiver: TransportReceiver): void
  /**
   * Sends an event. Throws a `CallError` when it cannot be sent; `receiver.undelivered` when that
   * turns out later.
   *
   * Until the peer can be reached, events may be held back; they are sent in order or undelivered.
   */
  send(event: CallEvent): void
  /** A promise while too much waits to be sent: streams and large results then wait for it. */
  ready?(): Promise<void> | undefined
  /** Ends it. What is still held back is undelivered. Closing twice is fine. */
  close(): Promise<void>
  /** Both ends share one process and one clock: deadlines and objects go over as they are. */
  readonly isLocal?: boolean | undefined
  /** Both ends are parts of one application: the peer may read every error as it is. */
  readonly isOneApplication?: boolean | undefined
  /** What carries the events, for logs: `nats`. */
  readonly surface?: string | undefined
  /** Identities that the peer claims for its calls count. */
  readonly isTrusted?: boolean | undefined
  /** Events may arrive twice or get lost: requests are then remembered for a while. */
  readonly mayRepeat?: boolean | undefined
  /** That a caller left may never be heard of: a stream then waits no longer than its caller would. */
  readonly mayLose?: boolean | undefined
  /** Who the peer is, as found out when it connected. */
  readonly identity?: Identity | undefined
  /** Peers serve several versions of one operation: requests of an import name the one that was imported. */
  readonly hasVersions?: boolean | undefined
  /** Told that requests are taken from now on; a link to many peers finds out there what is served. */
  serve?(served: ServedOperations): void
  /** Takes no further requests; those that it has go on. Links that only close need it not. */
  leave?(): void
  /** What may have become of a request that has no answer; `undefined` where that cannot be known. */
  fateOf?(requestId: string): CallFate | undefined
}

/** What one end serves, for links that have to tell others of it. */
export interface ServedOperations {
  /** Those that a peer may ask for: internal ones are not among them. */
  list(): readonly ServedOperation[]
  onChange(listener: () => void): () => void
  /** Why no further call would be taken now; `undefined` while there is room. */
  refuse(operationId: string): CallError | undefined
  /** The version of one; `undefined` for what is not served. */
  versionOf?(operationId: string): string | undefined
}

/** An operation, and whether it may be run twice without a second effect. */
export interface ServedOperation {
  readonly id: string
  readonly isIdempotent: boolean
}

/** What an error says of a call that was given up. */
export interface CallFate {
  readonly mayHaveExecuted: boolean
  readonly retryable: boolean
}

/** Who sent an event, on a link to many. */
export interface TransportPeer {
  readonly identity?: Identity | undefined
  /** The name by which the peer is known to the link, such as its user at a broker. */
  readonly user?: string | undefined
}

/** What a transport tells whoever opened it. Nothing here throws. */
export interface TransportReceiver {
  /** Something arrived. It is checked here: hand over what came, whatever it is. */
  event(event: unknown, peer?: TransportPeer): void
  /** An event that `send` took did not leave. */
  undelivered(event: CallEvent, error: CallError): void
  /**
   * The peer is gone, and with it all that either side owed the other.
   *
   * Nothing of before may arrive after this, not even when the peer comes back.
   */
  lost(error: CallError): void
  /** The peer can be reached again. */
  restored(): void
}
