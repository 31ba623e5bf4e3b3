import type { Clock } from "../../internal/platform.ts"
import type { HTTPCaller } from "../caller.ts"
import type { HTTPIncoming } from "../exchange.ts"
import type { BodyLimits } from "../mount.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import type { GivenCaller } from "./auth.ts"
import type { MCPCaller } from "./server.ts"

/** The parts of a request that depend on the server that received it. */
export interface IncomingParts extends Pick<
  HTTPIncoming,
  "method" | "like" | "onGone" | "readBody"
> {
  readonly givenCaller?: GivenCaller | undefined
  /** Set when the server is mounted; the host server has checked host and origin. */
  readonly mount?: MountedRequest | undefined
}

/** A request, independent of the server that received it. */
export class Incoming {
  readonly method: string
  /** The request for authentication and origin checks. */
  readonly like: UpgradeRequestLike
  readonly givenCaller: GivenCaller | undefined
  readonly mount: MountedRequest | undefined
  /** Whether the client has left. */
  isGone = false
  readonly #parts: IncomingParts
  #signal: AbortSignal | undefined

  constructor(parts: IncomingParts) {
    this.method = parts.method
    this.like = parts.like
    this.givenCaller = parts.givenCaller
    this.mount = parts.mount
    this.#parts = parts
    parts.onGone(() => {
      this.isGone = true
    })
  }

  /** Made when it is read, as are `headers` and `signal`. Only the path is meaningful: the host is not trusted. */
  get url(): string {
    const { url = "/" } = this.like
    return `http://localhost${url.startsWith("/") ? url : "/"}`
  }

  /** The headers, without the pseudo-headers of HTTP/2. */
  get headers(): Headers {
    const headers = new Headers()
    for (const [name, value] of Object.entries(this.like.headers)) {
      if (name.startsWith(":")) continue
      for (const one of typeof value === "string" ? [value] : (value ?? [])) {
        headers.append(name, one)
      }
    }
    return headers
  }

  /** A header by its lower-case name; repeated headers are joined with `, `. */
  header(name: string): string | undefined {
    const value = this.like.headers[name]
    return typeof value === "string" ? value : value?.join(", ")
  }

  /** Aborted when the client leaves. */
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal
    const controller = new AbortController()
    this.onGone(() => controller.abort())
    return (this.#signal = controller.signal)
  }

  /** Notifies once when the client leaves; at once if it has. Returns a function that unsubscribes. */
  onGone(listener: () => void): () => void {
    return this.#parts.onGone(listener)
  }

  /** Reads the body as text; `undefined` when it is too long. */
  readBody(maxBytes: number): Promise<string | undefined> {
    return this.#parts.readBody(maxBytes)
  }
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
