import { isRecord } from "../../internal/guards.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { ENVELOPE } from "../../mcp/model.ts"
import { INTERNAL_ERROR, notification } from "./messages.ts"
import { ProtocolError } from "../../tools/model.ts"
import type { Exchange } from "./peer.ts"
import type { ToolSurface } from "../../tools/surface.ts"

/** The long-lived request of modern clients for notifications. */
export const LISTEN = "subscriptions/listen"

export const LIST_CHANGED = "notifications/tools/list_changed"

const MAX_SUBSCRIPTIONS = 1024

/** Requests of modern clients for notifications: each is answered when the server closes. */
export class Subscriptions {
  readonly #surface: ToolSurface
  readonly #open = new Set<() => void>()

  constructor(surface: ToolSurface) {
    this.#surface = surface
  }

  /** Answers `subscriptions/listen`. */
  async listen(exchange: Exchange): Promise<object> {
    const { id, params } = exchange.request
    const wanted = params?.["notifications"]
    const tools = isRecord(wanted) ? wanted["toolsListChanged"] : undefined
    if (!isRecord(wanted) || (tools !== undefined && typeof tools !== "boolean")) {
      const message = `${LISTEN} needs params.notifications, an object such as { "toolsListChanged": true }.`
      throw new ProtocolError(INVALID_PARAMS, message)
    }
    if (this.#open.size >= MAX_SUBSCRIPTIONS) {
      throw new ProtocolError(INTERNAL_ERROR, "Subscription limit reached")
    }
    const _meta = { [ENVELOPE.subscriptionId]: id }
    const notifications = tools === true ? { toolsListChanged: true } : {}
    exchange.send(
      notification("notifications/subscriptions/acknowledged", { notifications, _meta }),
    )
    if (tools === true) await this.#follow(exchange, notification(LIST_CHANGED, { _meta }))
    return { _meta }
  }

  /** Ends all; `false` when there are none. */
  close(): boolean {
    const isUsed = this.#open.size > 0
    for (const end of this.#open) end()
    return isUsed
  }

  #follow(exchange: Exchange, changed: object): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#surface.onChange(() => exchange.send(changed))
      const end = (): void => {
        stop()
        this.#open.delete(end)
        resolve()
      }
      this.#open.add(end)
      exchange.onEnd(end)
    })
  }
}
