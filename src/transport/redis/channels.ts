import { refusal } from "../../core/errors.ts"
import type { MessageOrigin } from "../bus/types.ts"

const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/
const OPERATION = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/
// Long enough to differ from reserved words such as "all".
const SENDER = /^\{"from":"([A-Za-z0-9]{8,64})",/

/** The origin of a caller's message, as far as its channel shows. */
export interface CallerChannel {
  readonly user: string
  readonly operationId: string | undefined
  /** It was sent to all workers, not only to this one. */
  readonly isShared: boolean
}

/** Builds and parses the names of channels. */
export class RedisChannels {
  /** The channel of this process. */
  readonly inbox: string
  /** The channel for announcements of workers. */
  readonly news: string
  /** The channel that asks workers what they serve. */
  readonly ask: string
  /** Patterns for messages to this worker. */
  readonly ownPatterns: readonly string[]
  /** Patterns for messages to every worker. */
  readonly sharedPatterns: readonly string[]
  readonly #prefix: string
  readonly #user: string
  readonly #address: string

  /** All three are segments: they contain no colon and no pattern characters. */
  constructor(prefix: string, user: string, address: string) {
    this.#prefix = prefix
    this.#user = user
    this.#address = address
    this.inbox = this.replyTo(user, address)
    this.news = `${prefix}:news`
    this.ask = `${prefix}:ask:${user}`
    this.ownPatterns = [`${prefix}:call:*:${address}:*`, `${prefix}:ctl:*:${address}`]
    this.sharedPatterns = [`${prefix}:call:*:all:*`, `${prefix}:ask:*`]
  }

  /** The channel of a request. Throws for an invalid operation id. */
  call(worker: string, operationId: string): string {
    if (operationId.length > 256 || !OPERATION.test(operationId)) {
      const message = `Operation ${JSON.stringify(operationId.slice(0, 256))} is not registered: the id is not valid.`
      throw refusal("OPERATION_NOT_FOUND", message)
    }
    return `${this.#prefix}:call:${this.#user}:${worker}:${operationId}`
  }

  control(worker: string): string {
    return `${this.#prefix}:ctl:${this.#user}:${worker}`
  }

  /** Parses the name of a channel that callers publish to; `undefined` for other names. */
  read(channel: string): CallerChannel | undefined {
    const [prefix, kind, user, ...rest] = channel.split(":")
    // A pattern also matches names with more parts.
    if (prefix !== this.#prefix || user === undefined || !SEGMENT.test(user)) return undefined
    const [to, operationId, ...more] = rest
    if (kind === "ask") {
      return rest.length === 0 ? { user, operationId: undefined, isShared: true } : undefined
    }
    if (kind === "ctl") {
      if (rest.length !== 1 || to !== this.#address) return undefined
      return { user, operationId: undefined, isShared: false }
    }
    if (kind !== "call" || operationId === undefined || more.length > 0) return undefined
    if (!OPERATION.test(operationId) || (to !== this.#address && to !== "all")) return undefined
    return { user, operationId, isShared: to === "all" }
  }

  /** The origin of a frame; answers always go to a channel of the user that sent it. */
  callerOf({ user, operationId }: CallerChannel, address: string): MessageOrigin {
    return { user, address, reply: this.replyTo(user, address), operationId }
  }

  replyTo(user: string, address: string): string {
    return `${this.#prefix}:inbox:${user}:${address}`
  }
}

/** The sender's address in a frame, read without parsing all of it. */
export function senderOf(text: string): string | undefined {
  return SENDER.exec(text)?.[1]
}
