import type { CallOptions, Identity } from "../core/types.ts"
import type { Clock } from "../internal/platform.ts"
import type { Refused, HTTPAnswer, HTTPHandler, HTTPIncoming, HTTPCaller } from "./exchange.ts"
import type { Authenticate } from "./authenticate.ts"

/** The server that another one is mounted in. */
export interface MountHost {
  /** Where it is mounted, for messages: `mounts["/mcp"]`. */
  readonly name: string
  /** How the host server authenticates callers; `undefined` when it does not. */
  readonly authenticate: Authenticate | undefined
  readonly clock: Clock
  readonly limits: BodyLimits
  /** Set if the host server has the option `context`. */
  readonly valuesFor?: ValuesFor | undefined
}

/** What the option `context` of the host server provides for a call: a part of its metadata. */
export type ValuesFor = (
  operationId: string,
  incoming: Pick<HTTPIncoming, "method" | "like" | "raw" | "requestId">,
  identity: Identity | undefined,
) => CallOptions["metadata"] | Promise<CallOptions["metadata"]>

/** Limits of the host server for bodies, as far as it sets them. */
export interface BodyLimits {
  readonly maxBodyBytes?: number | undefined
  readonly maxDepth?: number | undefined
}

/** A server that is mounted below a path of another one. */
export interface MountedServer {
  /** Its protocol: `mcp`. */
  readonly protocol: string
  /** Public documents, by full path. */
  readonly documents: ReadonlyMap<string, HTTPHandler>
  /** Answers an admitted request of an authenticated caller. */
  readonly handle: (incoming: HTTPIncoming, caller: HTTPCaller) => Promise<HTTPAnswer>
  /** Converts a refusal of the guard to the format of its protocol. */
  readonly refuse: (refused: Refused, incoming: HTTPIncoming) => HTTPAnswer
}

/**
 * Method of a server that can be mounted in another one, and gets authenticated callers from it.
 *
 * Called once, when the host server is created; throws a `TypeError` for contradicting options.
 * Registered globally, because the two may come from two copies of this package.
 */
export const MOUNT: unique symbol = Symbol.for("@alkdev/operations/mount")

/** A server that can be mounted. */
export interface Mountable {
  [MOUNT](host: MountHost): MountedServer
}
