import type { Clock } from "../internal/platform.ts"
import type { Refused } from "./exchange.ts"
import type { HTTPAnswer, HTTPHandler, HTTPIncoming } from "./exchange.ts"
import type { HTTPCaller } from "./caller.ts"
import type { Authenticate } from "./gate.ts"

/** What a mounted server knows of the server that it is mounted in. */
export interface MountHost {
  /** Where it is mounted, for messages: `mounts["/mcp"]`. */
  readonly name: string
  /** How callers have been authenticated by the time that they arrive; `undefined` when they have not. */
  readonly authenticate: Authenticate | undefined
  readonly clock: Clock
}

/** A server as it answers below a path of another one. */
export interface MountedServer {
  /** What it speaks: `mcp`. */
  readonly protocol: string
  /** Documents that everyone may read, by their path from the root. */
  readonly documents: ReadonlyMap<string, HTTPHandler>
  /** Answers a request that was let in, for the caller that was resolved. */
  readonly handle: (incoming: HTTPIncoming, caller: HTTPCaller) => Promise<HTTPAnswer>
  /** Writes a refusal of the guard in the form that its clients read. */
  readonly refuse: (refused: Refused, incoming: HTTPIncoming) => Promise<HTTPAnswer>
}

/**
 * How a server takes part in the server that it is mounted in: it gets resolved callers.
 *
 * Called once, when the other server is created; throws a `TypeError` for options that contradict it.
 * Registered globally, because the two may come from two copies of this package.
 */
export const MOUNT: unique symbol = Symbol.for("@alkdev/operations/mount")

/** A server that can take part. */
export interface Mountable {
  [MOUNT](host: MountHost): MountedServer
}
