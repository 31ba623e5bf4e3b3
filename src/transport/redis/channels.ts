import { refusal } from "../../core/errors.ts"
import type { BusCaller } from "../bus/types.ts"

const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/
const OPERATION = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/
// Long enough to be none of the words that stand in its place, such as "all".
const SENDER = /^\{"from":"([A-Za-z0-9]{8,64})",/

/** Where a message of a caller came from, as far as its channel says. */
export interface CallerChannel {
  readonly user: string
  readonly operationId: string | undefined
  /** It went to all workers, not to this one. */
  readonly isShared: boolean
}

/** The names of channels: what is sent where, and what a name says about who sent it. */
export class RedisChannels {
  /** What is for this process alone. */
  readonly inbox: string
  /** What workers tell everybody. */
  readonly news: string
  /** Who serves, and what. */
  readonly ask: string
  /** What comes for this very worker. */
  readonly ownPatterns: readonly string[]
  /** What comes for every worker. */
  readonly sharedPatterns: readonly string[]
  readonly #prefix: string
  readonly #user: string
  readonly #address: string

  /** All three are segments: none holds a colon or anything that means something in a pattern. */
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

  /** Where a request goes. Throws where an operation has a name that none can have. */
  call(worker: string, operationId: string): string {
    if (operationId.length > 256 || !OPERATION.test(operationId)) {
      throw refusal(
        "OPERATION_NOT_FOUND",
        `Operation ${JSON.stringify(operationId.slice(0, 256))} is not registered: no operation has such a name.`,
      )
    }
    return `${this.#prefix}:call:${this.#user}:${worker}:${operationId}`
  }

  control(worker: string): string {
    return `${this.#prefix}:ctl:${this.#user}:${worker}`
  }

  /** Reads the name of a channel that callers send to; `undefined` when it is none of ours. */
  read(channel: string): CallerChannel | undefined {
    const [prefix, kind, user, ...rest] = channel.split(":")
    // A pattern also matches names with more parts than ours have.
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

  /** Who sent a frame, and where answers go: always a channel of the user who sent it. */
  callerOf({ user, operationId }: CallerChannel, address: string): BusCaller {
    return { user, address, reply: this.replyTo(user, address), operationId }
  }

  replyTo(user: string, address: string): string {
    return `${this.#prefix}:inbox:${user}:${address}`
  }
}

/** The address that a frame says it comes from, read without reading all of it. */
export function senderOf(text: string): string | undefined {
  return SENDER.exec(text)?.[1]
}
