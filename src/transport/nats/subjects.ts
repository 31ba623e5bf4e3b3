import { refusal } from "../../core/errors.ts"
import { hashHalves } from "../bus/wire/wire.ts"
import type { MessageOrigin } from "../bus/types.ts"

/** The queue group of all workers: each request goes to one of them. */
export const QUEUE = "workers"

// Without wildcards, spaces and line breaks: text of this form is safe as part of a subject.
const SEGMENT = "[A-Za-z0-9_-]{1,64}"
const NAME = "[A-Za-z0-9]{1,64}"
const OPERATION = String.raw`[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+`
const IS_OPERATION = new RegExp(`^${OPERATION}$`)
const IS_NAME = new RegExp(`^${NAME}$`)
const IS_REPLY = new RegExp(String.raw`^_INBOX_(${SEGMENT})\.(${NAME})\.${NAME}$`)
const MAX_OPERATION_LENGTH = 255

/** Whether an operation id can be part of a subject; almost all can. */
export function isAddressable(operationId: string): boolean {
  return operationId.length <= MAX_OPERATION_LENGTH && IS_OPERATION.test(operationId)
}

/** The subjects that one end publishes and subscribes to. */
export class Subjects {
  readonly ask: string
  readonly news: string
  /** The subscription of this end as a caller. */
  readonly inbox: string
  /** The subscriptions of this end as a worker, besides its operations. */
  readonly ofWorker: {
    readonly requests: string
    readonly control: string
    readonly all: string
    readonly asks: string
  }
  readonly #prefix: string
  readonly #user: string
  readonly #replies: string
  readonly #requests: RegExp
  readonly #direct: RegExp
  readonly #others: RegExp

  /** All three consist of letters and digits; the first two may contain "-" and "_". */
  constructor(prefix: string, user: string, address: string) {
    this.#prefix = prefix
    this.#user = user
    this.#replies = `_INBOX_${user}.${address}.`
    this.ask = `${prefix}.ask.${user}`
    this.news = `${prefix}.news`
    this.inbox = `${this.#replies}*`
    const own = privatePart(address)
    this.ofWorker = {
      requests: `${prefix}.to.*.${own}.>`,
      control: `${prefix}.ctl.*.${own}`,
      // Only `services.*` is ever requested from all workers.
      all: `${prefix}.call.*.all.services.*`,
      asks: `${prefix}.ask.*`,
    }
    const self = own.replace(".", String.raw`\.`)
    this.#requests = new RegExp(
      String.raw`^${prefix}\.call\.(${SEGMENT})\.(?:any|all)\.(${OPERATION})$`,
    )
    this.#direct = new RegExp(String.raw`^${prefix}\.to\.(${SEGMENT})\.${self}\.(${OPERATION})$`)
    this.#others = new RegExp(
      String.raw`^${prefix}\.(?:ctl\.(${SEGMENT})\.${self}|ask\.(${SEGMENT}))$`,
    )
  }

  /** The queue subscription of a worker for one operation. */
  served(operationId: string): string {
    return `${this.#prefix}.call.*.any.${checked(operationId)}`
  }

  any(operationId: string): string {
    return `${this.#prefix}.call.${this.#user}.any.${checked(operationId)}`
  }

  all(operationId: string): string {
    return `${this.#prefix}.call.${this.#user}.all.${checked(operationId)}`
  }

  worker(address: string, operationId: string): string {
    return `${this.#prefix}.to.${this.#user}.${privatePart(address)}.${checked(operationId)}`
  }

  control(address: string): string {
    return `${this.#prefix}.ctl.${this.#user}.${privatePart(address)}`
  }

  /** The reply subject of a message; it ends with the correlation id, which "no responders" replies return. */
  reply(correlationId: string): string {
    return this.#replies + named(correlationId)
  }

  /** The correlation id of the message that a subject in the inbox belongs to. */
  correlationIdOf(subject: string): string {
    return subject.slice(this.#replies.length)
  }

  /** The origin of a message to this worker; `undefined` if no caller can have sent it. */
  callerOf(subject: string, reply: string | undefined): MessageOrigin | undefined {
    const request = this.#requests.exec(subject) ?? this.#direct.exec(subject)
    const other = request === null ? this.#others.exec(subject) : null
    const user = request?.[1] ?? other?.[1] ?? other?.[2]
    const operationId = request?.[2]
    if (user === undefined || reply === undefined) return undefined
    if (operationId !== undefined && operationId.length > MAX_OPERATION_LENGTH) return undefined
    // Answers go only to the sender's inbox: a caller must not make a worker publish elsewhere.
    const parts = IS_REPLY.exec(reply)
    const address = parts?.[2]
    if (address === undefined || parts?.[1] !== user) return undefined
    return { user, address, reply, operationId }
  }
}

/** The part of a worker's own subjects that names it; permissions can refer to the first half. */
function privatePart(address: string): string {
  return `${named(address).slice(0, TAG_LENGTH)}.${address}`
}

function named(name: string): string {
  if (IS_NAME.test(name)) return name
  throw refusal("VALIDATION_ERROR", `${JSON.stringify(name)} is not a valid address on a broker.`)
}

function checked(operationId: string): string {
  if (isAddressable(operationId)) return operationId
  const message = `Operation ${JSON.stringify(operationId)} is not registered: ids on a broker are letters, digits, "-" and "_" with dots between them.`
  throw refusal("OPERATION_NOT_FOUND", message)
}

/** Characters of a tag: letters and digits. */
export const TAG_LENGTH = 10

/**
 * The first segment of a worker's address: the same for all workers of one user of the broker.
 *
 * Addresses are new with every start, and a broker's permissions name whole segments only. With the tag as a
 * segment, permissions can allow a user to receive only the messages to its own workers. Exported as `workerTag`.
 */
export function tagOf(user: string): string {
  const [low, high] = hashHalves(user, 0x9e3779b9)
  // 50 bits fit into ten digits in base 36.
  const bits = (mixBits(high) >>> 14) * 2 ** 32 + (mixBits(low) >>> 0)
  return bits.toString(36).padStart(TAG_LENGTH, "0")
}

/** Mixes the bits, so that names that differ in one letter get unrelated tags. */
function mixBits(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  return once ^ (once >>> 15)
}
