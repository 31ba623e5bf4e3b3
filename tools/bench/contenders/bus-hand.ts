/** Calls by hand: JSON, ids, compiled checks; no deadline, no guard, no metadata. */
import { Quote, quote, QuoteInput } from "../cases.ts"
import type { BusClient, BusContender } from "./bus.ts"
import { LINES } from "./lines.ts"
import type { Line, LineName } from "./lines.ts"
import { parser } from "./socket.ts"

/** An input, or an answer. */
type Message = readonly [id: number, kind: "call" | "error", value: unknown]

/** With `isBatched`, all messages of one turn are sent as one text: the best that a connection allows. */
export function byHand(name: LineName, isBatched: boolean): BusContender {
  const kind = LINES[name]
  return {
    serve: (url) => kind.serve(url, (line) => serve(exchangeOver(line, isBatched))),
    connect: async (address) => call(exchangeOver(await kind.connect(address), isBatched)),
  }
}

/** Sends and receives messages. */
interface Exchange {
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

/** Answers the calls of one peer. */
function serve(exchange: Exchange): void {
  const answer = async (id: number, input: unknown): Promise<void> => {
    try {
      exchange.send([id, "call", parseOutput(await quote(parseInput(input)))])
    } catch (error) {
      exchange.send([id, "error", String(error)])
    }
  }
  exchange.receive = ([id, , input]) => void answer(id, input)
}

/** The calling end of an exchange. */
function call(exchange: Exchange): BusClient {
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
    data: (result) => result,
  }
}
