/** Calls and streams by hand: JSON, ids, compiled checks; no deadline, no guard, no metadata. */
import { Quote, quote, QuoteInput } from "../cases.ts"
import type { BusClient, BusContender } from "./bus.ts"
import { LINES } from "./lines.ts"
import type { Line, LineName } from "./lines.ts"
import { parser, quotes, StreamInput } from "./socket.ts"

/** An input or a number of items; an answer, an item, or how many items were read. */
type Message = readonly [id: number, kind: "call" | "stream" | "read" | "error", value: unknown]

/** Items of a stream that may be in transit. */
const WINDOW = 256

/** With `isBatched`, all messages of one turn are sent as one text: the best that a connection allows. */
export function byHand(name: LineName, isBatched: boolean): BusContender {
  const kind = LINES[name]
  return {
    serve: (url) => kind.serve(url, (line) => serve(exchangeOver(line, isBatched))),
    connect: async (address) => call(exchangeOver(await kind.connect(address), isBatched)),
  }
}

/** Sends and receives messages. */
export interface Exchange {
  send(message: Message): void
  receive: (message: Message) => void
}

function exchangeOver(line: Line, isBatched: boolean): Exchange {
  let waiting: Message[] = []
  const flush = (): void => {
    const messages = waiting
    waiting = []
    line.send(JSON.stringify(messages))
  }
  const exchange: Exchange = {
    send(message) {
      if (!isBatched) line.send(JSON.stringify(message))
      else if (waiting.push(message) === 1) setImmediate(flush)
    },
    receive: () => undefined,
  }
  line.receive = (text) => {
    if (!isBatched) exchange.receive(JSON.parse(text) as Message)
    else for (const message of JSON.parse(text) as Message[]) exchange.receive(message)
  }
  return exchange
}

const parseInput = parser<QuoteInput>(QuoteInput)
const parseOutput = parser<Quote>(Quote)
const parseStream = parser<StreamInput>(StreamInput)

/** Answers the calls and streams of one peer. */
export function serve(exchange: Exchange): void {
  const streams = new Map<number, { read: number; wake: (() => void) | undefined }>()
  const answer = async (id: number, input: unknown): Promise<void> => {
    try {
      exchange.send([id, "call", parseOutput(await quote(parseInput(input)))])
    } catch (error) {
      exchange.send([id, "error", String(error)])
    }
  }
  const stream = async (id: number, input: unknown): Promise<void> => {
    const state = { read: 0, wake: undefined as (() => void) | undefined }
    streams.set(id, state)
    let sent = 0
    for await (const item of quotes(parseStream(input).count)) {
      if (sent - state.read >= WINDOW) await new Promise<void>((wake) => (state.wake = wake))
      exchange.send([id, "stream", parseOutput(item)])
      sent++
    }
    streams.delete(id)
    exchange.send([id, "stream", null])
  }
  exchange.receive = ([id, kind, value]) => {
    if (kind === "call") void answer(id, value)
    else if (kind === "stream") void stream(id, value)
    else {
      const state = streams.get(id)
      if (state === undefined) return
      state.read = value as number
      state.wake?.()
    }
  }
}

/** The calling end of an exchange. */
export function call(exchange: Exchange): BusClient {
  const pending = new Map<number, (kind: string, value: unknown) => void>()
  let ids = 0
  exchange.receive = ([id, kind, value]) => pending.get(id)?.(kind, value)
  return {
    call: (input) =>
      new Promise((resolve, reject) => {
        const id = ++ids
        pending.set(id, (kind, value) => {
          pending.delete(id)
          if (kind === "call") resolve(value)
          else reject(new TypeError(String(value)))
        })
        exchange.send([id, "call", input])
      }),
    items: (count) =>
      new Promise((resolve) => {
        const id = ++ids
        let read = 0
        pending.set(id, (_kind, value) => {
          if (value !== null) {
            if (++read % (WINDOW / 2) === 0) exchange.send([id, "read", read])
            return
          }
          pending.delete(id)
          resolve(read)
        })
        exchange.send([id, "stream", { count }])
      }),
    data: (result) => result,
  }
}
