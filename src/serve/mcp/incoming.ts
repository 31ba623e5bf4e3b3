import type { Clock } from "../../internal/platform.ts"
import type { HTTPCaller } from "../caller.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import type { GivenCaller } from "./auth.ts"
import type { MCPCaller } from "./server.ts"

/** A request, independent of the server that received it. */
export interface Incoming {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** The request for authentication and origin checks. */
  readonly like: UpgradeRequestLike
  readonly signal: AbortSignal
  readonly given: GivenCaller | undefined
  /** Set when the server is mounted; the host server has checked host and origin. */
  readonly mount?: MountedRequest | undefined
  /** Reads the body as text; `undefined` when it is too long. */
  readBody(maxBytes: number): Promise<string | undefined>
}

/** A request that the host server has admitted. */
export interface MountedRequest extends Pick<HTTPCaller, "account" | "charge" | "openStream"> {
  /** The caller; `undefined` when the host server does not authenticate. */
  readonly caller: MCPCaller | undefined
  readonly clock: Clock
}
