import { isRecord } from "../../internal/guards.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { ENVELOPE, type JsonObject } from "../../mcp/model.ts"
import { ProtocolError } from "../../tools/model.ts"
import type { ToolSurface } from "../../tools/surface.ts"
import type { ServedKind } from "../../tools/tool.ts"
import type { Extras } from "./extras.ts"
import { INTERNAL_ERROR, notification } from "./messages.ts"
import type { Exchange, Peer } from "./peer.ts"

/** The long-lived request of modern clients for notifications. */
export const LISTEN = "subscriptions/listen"

/** Changes of lists: how clients ask for them, and how they are announced. */
const CHANGES: Readonly<Record<ServedKind, readonly [filter: string, method: string]>> = {
  tool: ["toolsListChanged", "notifications/tools/list_changed"],
  resource: ["resourcesListChanged", "notifications/resources/list_changed"],
  prompt: ["promptsListChanged", "notifications/prompts/list_changed"],
}

const KINDS = ["tool", "resource", "prompt"] as const

const UPDATED = "notifications/resources/updated"

const MAX_SUBSCRIPTIONS = 1024
/** Resources that one client can subscribe to. */
const MAX_WATCHED = 1000

/** Announces changed lists to a client up to 2025-11-25. Returns a function that ends it. */
export function announceLists(surface: ToolSurface, peer: Peer): () => void {
  return surface.onChange((kinds) => {
    for (const kind of kinds) peer.write?.(JSON.stringify(notification(CHANGES[kind][1])))
  })
}

/** Answers `resources/subscribe` and `resources/unsubscribe`. */
export function subscribe(
  extras: Extras,
  { peer, request, caller: { identity }, era }: Exchange,
  isWanted: boolean,
): object {
  const uri = request.params?.["uri"]
  if (typeof uri !== "string") {
    throw new ProtocolError(INVALID_PARAMS, `${request.method} needs params.uri.`)
  }
  const { write, watched } = peer
  if (write === undefined) {
    throw new ProtocolError(INVALID_PARAMS, `${request.method} needs a session.`)
  }
  if (!isWanted) watched.get(uri)?.()
  if (!isWanted) watched.delete(uri)
  else if (!watched.has(uri)) {
    if (watched.size >= MAX_WATCHED) throw limitReached()
    const changed = JSON.stringify(notification(UPDATED, { uri }))
    watched.set(
      uri,
      extras.watch(uri, { identity, era }, () => write(changed)),
    )
  }
  return {}
}

/** Requests of modern clients for notifications: each is answered when the server closes. */
export class Subscriptions {
  readonly #surface: ToolSurface
  readonly #extras: Extras
  readonly #open = new Set<() => void>()

  constructor(surface: ToolSurface, extras: Extras) {
    this.#surface = surface
    this.#extras = extras
  }

  /** Answers `subscriptions/listen`. */
  async listen(exchange: Exchange): Promise<object> {
    const { id, params } = exchange.request
    const wanted = params?.["notifications"]
    const filter = isRecord(wanted) ? readFilter(wanted) : undefined
    if (filter === undefined) {
      const message = `${LISTEN} needs params.notifications, an object such as { "toolsListChanged": true }.`
      throw new ProtocolError(INVALID_PARAMS, message)
    }
    const { kinds, uris } = filter
    if (this.#open.size >= MAX_SUBSCRIPTIONS || uris.length > MAX_WATCHED) throw limitReached()
    const _meta = { [ENVELOPE.subscriptionId]: id }
    const stops: (() => void)[] = []
    const honored: string[] = []
    for (const uri of new Set(uris)) {
      const changed = notification(UPDATED, { uri, _meta })
      const caller = { identity: exchange.caller.identity, era: exchange.era }
      try {
        stops.push(this.#extras.watch(uri, caller, () => exchange.send(changed)))
        honored.push(uri)
      } catch (error) {
        // The acknowledgement says which resources there are.
        if (!(error instanceof ProtocolError)) throw error
      }
    }
    const notifications = {
      ...Object.fromEntries(kinds.map((kind) => [CHANGES[kind][0], true])),
      ...(honored.length > 0 && { resourceSubscriptions: honored }),
    }
    exchange.send(
      notification("notifications/subscriptions/acknowledged", { notifications, _meta }),
    )
    if (kinds.length > 0) {
      const listener = (changed: ReadonlySet<ServedKind>): void => {
        for (const kind of kinds) {
          if (changed.has(kind)) exchange.send(notification(CHANGES[kind][1], { _meta }))
        }
      }
      stops.push(this.#surface.onChange(listener))
    }
    if (stops.length > 0) await this.#untilEnded(exchange, stops)
    return { _meta }
  }

  /** Ends all; `false` when there are none. */
  close(): boolean {
    const isUsed = this.#open.size > 0
    for (const end of this.#open) end()
    return isUsed
  }

  #untilEnded(exchange: Exchange, stops: readonly (() => void)[]): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        for (const stop of stops) stop()
        this.#open.delete(end)
        resolve()
      }
      this.#open.add(end)
      exchange.onEnd(end)
    })
  }
}

/** The lists and resources of a filter; `undefined` if it is not valid. */
function readFilter(
  wanted: JsonObject,
): { readonly kinds: readonly ServedKind[]; readonly uris: readonly string[] } | undefined {
  const { resourceSubscriptions: uris = [] } = wanted
  const isText = (uri: unknown): uri is string => typeof uri === "string"
  if (!Array.isArray(uris) || !uris.every(isText)) return undefined
  const flags = KINDS.map((kind) => wanted[CHANGES[kind][0]] ?? false)
  if (flags.some((flag) => typeof flag !== "boolean")) return undefined
  return { kinds: KINDS.filter((_, index) => flags[index] === true), uris }
}

function limitReached(): ProtocolError {
  return new ProtocolError(INTERNAL_ERROR, "Subscription limit reached")
}
