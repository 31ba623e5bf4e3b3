import type { Clock } from "../../internal/platform.ts"
import type { HTTPCaller } from "../caller.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import type { GivenCaller } from "./auth.ts"
import type { MCPCaller } from "./server.ts"

/** A request, wherever it came from. */
export interface Incoming {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** The same for those who look at requests of Node. */
  readonly like: UpgradeRequestLike
  readonly signal: AbortSignal
  readonly given: GivenCaller | undefined
  /** What the server has found out that this one is mounted in; hosts and origins are checked by then. */
  readonly mount?: MountedRequest | undefined
  /** The body as text; `undefined` when it is longer than this. */
  readBody(maxBytes: number): Promise<string | undefined>
}

/** A request that another server has let in. */
export interface MountedRequest extends Pick<HTTPCaller, "account" | "charge" | "openStream"> {
  /** Who calls; `undefined` where the other server asks nobody. */
  readonly caller: MCPCaller | undefined
  readonly clock: Clock
}
