import { refusal } from "../../core/errors.ts"
import { TAG_LENGTH } from "../../internal/user-tag.ts"
import type { BusCaller } from "../bus/types.ts"

/** The queue group of all workers: each request to any goes to one of them. */
export const QUEUE = "workers"

// No wildcard, no space and no line break: what has this form is a part of a subject and nothing else.
const SEGMENT = "[A-Za-z0-9_-]{1,64}"
const NAME = "[A-Za-z0-9]{1,64}"
const OPERATION = String.raw`[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+`
const IS_OPERATION = new RegExp(`^${OPERATION}$`)
const IS_NAME = new RegExp(`^${NAME}$`)
const IS_REPLY = new RegExp(String.raw`^_INBOX_(${SEGMENT})\.(${NAME})\.${NAME}$`)
const LONGEST_OPERATION = 255

/** Whether an id can be part of a subject, as those of almost all operations can. */
export function isAddressable(operationId: string): boolean {
  return operationId.length <= LONGEST_OPERATION && IS_OPERATION.test(operationId)
}

/** The subjects that one end sends to, and those that it listens to. */
export class Subjects {
  readonly ask: string
  readonly news: string
  /** What this end listens to as a caller. */
  readonly inbox: string
  /** What it listens to as a worker, besides its operations. */
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

  /** All three are made of letters and digits, the first two of "-" and "_" as well. */
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
      // Nothing else is ever asked of all.
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

  /** What a worker listens to for one operation, with the others that serve it. */
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

  /** Where answers to a message go; its mark comes back with what the broker says of it. */
  reply(mark: string): string {
    return this.#replies + named(mark)
  }

  /** The mark of the message that something in the inbox belongs to. */
  markOf(subject: string): string {
    return subject.slice(this.#replies.length)
  }

  /** Who sent a message to this worker; `undefined` when it is not one that a caller could have sent. */
  callerOf(subject: string, reply: string | undefined): BusCaller | undefined {
    const request = this.#requests.exec(subject) ?? this.#direct.exec(subject)
    const other = request === null ? this.#others.exec(subject) : null
    const user = request?.[1] ?? other?.[1] ?? other?.[2]
    const operationId = request?.[2]
    if (user === undefined || reply === undefined) return undefined
    if (operationId !== undefined && operationId.length > LONGEST_OPERATION) return undefined
    // Answers go to nobody but who asked: a caller must not make a worker write elsewhere.
    const parts = IS_REPLY.exec(reply)
    const address = parts?.[2]
    if (address === undefined || parts?.[1] !== user) return undefined
    return { user, address, reply, operationId }
  }
}

/** A worker's part of the subjects that are its own: a broker can permit the first half of it. */
function privatePart(address: string): string {
  return `${named(address).slice(0, TAG_LENGTH)}.${address}`
}

function named(name: string): string {
  if (IS_NAME.test(name)) return name
  throw refusal("VALIDATION_ERROR", `${JSON.stringify(name)} is no address on a broker.`)
}

function checked(operationId: string): string {
  if (isAddressable(operationId)) return operationId
  throw refusal(
    "OPERATION_NOT_FOUND",
    `Operation ${JSON.stringify(operationId)} is not registered: ids on a broker are letters, digits, "-" and "_" with dots between them.`,
  )
}
