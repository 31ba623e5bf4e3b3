import type { Clock } from "../../internal/platform.ts"
import type { HTTPCaller } from "../caller.ts"
import type { BodyLimits } from "../mount.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import type { GivenCaller } from "./auth.ts"
import type { MCPCaller } from "./server.ts"

/** A request, independent of the server that received it. */
export interface Incoming {
  readonly method: string
  /** Made when it is read, as are `headers` and `signal`: most requests need none of them. */
  readonly url: string
  readonly headers: Headers
  /** A header by its lower-case name; repeated headers are joined with `, `. */
  header(name: string): string | undefined
  /** The request for authentication and origin checks. */
  readonly like: UpgradeRequestLike
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
  /** Whether the client has left. */
  readonly isGone: boolean
  /** Notifies once when the client leaves; at once if it has. Returns a function that unsubscribes. */
  onGone(listener: () => void): () => void
  readonly givenCaller: GivenCaller | undefined
  /** Set when the server is mounted; the host server has checked host and origin. */
  readonly mount?: MountedRequest | undefined
  /** Reads the body as text; `undefined` when it is too long. */
  readBody(maxBytes: number): Promise<string | undefined>
}

/** A request that the host server has admitted. */
export interface MountedRequest extends Pick<
  HTTPCaller,
  "account" | "charge" | "openStream" | "onRevoked"
> {
  /** The caller; `undefined` when the host server does not authenticate. */
  readonly caller: MCPCaller | undefined
  readonly clock: Clock
  readonly limits: BodyLimits
}
