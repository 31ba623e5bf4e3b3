import { Listeners } from "../../../internal/listeners.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { Clock } from "../../../internal/platform.ts"
import { keepListening } from "./changes.ts"
import { RequestTimeout } from "./request-timeout.ts"
import { memberOf } from "./sdk.ts"
import type { Session } from "./session.ts"

/** Dependencies of the subscriptions. */
export interface Watching {
  readonly name: string
  readonly clock: Clock
  readonly logger: Logger
  /** Returns an open session. */
  ready(timeout: RequestTimeout): Promise<Session>
}

// Milliseconds for a request to subscribe.
const SUBSCRIBE_MS = 30_000

/** Subscriptions to resources of one server, which outlive its sessions. */
export class ResourceWatches {
  readonly #host: Watching
  readonly #byUri = new Map<string, Listeners<string>>()
  /** What ends the subscriptions of the current session. */
  #open = new Map<string, AbortController>()
  #session: Session | undefined

  constructor(host: Watching) {
    this.#host = host
  }

  /** Calls back when a resource has changed. Returns a function that unsubscribes. */
  watch(uri: string, listener: (uri: string) => void): () => void {
    const listeners = this.#byUri.get(uri) ?? new Listeners<string>()
    this.#byUri.set(uri, listeners)
    const stop = listeners.add(listener)
    if (listeners.size === 1) void this.#request(uri, (session) => this.opened(session))
    return () => {
      stop()
      if (listeners.size > 0 || this.#byUri.get(uri) !== listeners) return
      this.#byUri.delete(uri)
      this.#open.get(uri)?.abort()
      this.#open.delete(uri)
    }
  }

  /** Subscribes on a session, unless that was done. */
  opened(session: Session): void {
    if (session !== this.#session) {
      this.#session = session
      this.#open = new Map()
    }
    for (const uri of this.#byUri.keys()) {
      if (this.#open.has(uri)) continue
      const ending = new AbortController()
      this.#open.set(uri, ending)
      void this.#subscribe(session, uri, ending.signal)
    }
  }

  /** Receives the parameters of `notifications/resources/updated`; the address may be of a part of the resource. */
  updated(params: unknown): void {
    const uri = memberOf(params, "uri")
    if (typeof uri !== "string") return
    for (const [watched, listeners] of this.#byUri) {
      if (uri === watched || isPart(uri, watched)) listeners.notify(uri)
    }
  }

  close(): void {
    for (const ending of this.#open.values()) ending.abort()
    this.#open.clear()
    this.#byUri.clear()
  }

  async #subscribe(session: Session, uri: string, ended: AbortSignal): Promise<void> {
    const { capabilities, era } = session.peer
    if (memberOf(memberOf(capabilities, "resources"), "subscribe") !== true) return
    if (era === "modern") {
      const filter = { resourceSubscriptions: [uri] }
      await keepListening(session, this.#host.clock, filter, () => this.updated({ uri }), ended)
      return
    }
    const send = async (method: string): Promise<void> => {
      await this.#request(uri, async (_, timeout) => {
        await session.request({ method, params: { uri }, phase: "read", tool: uri, timeout })
      })
    }
    ended.addEventListener("abort", () => void (!session.isLost && send("resources/unsubscribe")))
    await send("resources/subscribe")
  }

  /** Runs a request whose failure only means that there are no notifications. */
  async #request(
    uri: string,
    run: (session: Session, timeout: RequestTimeout) => void | Promise<void>,
  ): Promise<void> {
    const { name, clock, logger } = this.#host
    const subject = `A subscription to "${uri}" of MCP server "${name}"`
    const timeout = new RequestTimeout({ clock, subject, idle: SUBSCRIBE_MS, total: SUBSCRIBE_MS })
    try {
      await run(await this.#host.ready(timeout), timeout)
    } catch (error) {
      logger.debug("A resource of an MCP server cannot be subscribed to", {
        server: name,
        uri,
        error,
      })
    } finally {
      timeout.dispose()
    }
  }
}

/** Whether an address is below another one. */
function isPart(uri: string, whole: string): boolean {
  return uri.startsWith(whole) && (whole.endsWith("/") || /^[/?#]/.test(uri.slice(whole.length)))
}
