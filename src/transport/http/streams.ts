import { refusal } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import { deferred } from "../../internal/wait.ts"
import type { Deferred } from "../../internal/wait.ts"
import { readLines, tooLong } from "./exchange.ts"
import type { HTTPPeer } from "./exchange.ts"

/** An event of a stream, as the gateway sends it. */
export interface StreamEvent {
  /** `message` for an item, `end` or `error`. */
  readonly name: string
  readonly data: string
  /** The number of an item. */
  readonly id: string
}

/** Ids that can be sent back in a header. */
const ID = /^[ -~]{1,1024}$/

/** Reads server-sent events until the stream ends. Rejects when it was cut off. */
export async function readStream(
  peer: HTTPPeer,
  response: Response,
  take: (event: StreamEvent) => Promise<void> | void,
): Promise<void> {
  if ((response.body as unknown) === undefined) {
    throw refusal(
      "UNAVAILABLE",
      "This platform's fetch cannot read streams. Pass one that can as the option fetch.",
      { retryable: false },
    )
  }
  let name = "message"
  let data: string[] = []
  let id = ""
  let size = 0
  let isOver = false
  await readLines(peer, response, (raw) => {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw
    if (line === "") {
      const event = { name, data: data.join("\n"), id }
      const isEvent = data.length > 0
      name = "message"
      data = []
      size = 0
      if (!isEvent || !/^(?:message|end|error)$/.test(event.name)) return undefined
      isOver ||= event.name !== "message"
      return take(event)
    }
    const [, field, value = ""] = /^(\w*):? ?(.*)$/.exec(line) ?? []
    if (field === "data") {
      data.push(value)
      size += value.length + 1
      if (size > peer.maxResponseBytes) throw tooLong(peer)
    } else if (field === "event") name = value
    else if (field === "id") id = ID.test(value) ? value : ""
    return undefined
  })
  if (!isOver) throw cutOff(peer)
}

/** How many items the consumer takes: reading waits for it, and with it the server. */
export class Credit {
  #limit: number
  #more: Deferred | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  raise(limit: number): void {
    if (limit > this.#limit) this.#limit = limit
    this.#more?.resolve()
    this.#more = undefined
  }

  /** Waits until more than this number of items may be delivered; `undefined` if that is so. */
  wait(count: number): Promise<void> | undefined {
    if (count < this.#limit) return undefined
    return (this.#more ??= deferred()).promise
  }
}

function cutOff({ url }: HTTPPeer): CallError {
  return refusal("UNAVAILABLE", `The connection was lost (${url}): the stream was cut off.`, {
    mayHaveExecuted: true,
    retryable: false,
  })
}
