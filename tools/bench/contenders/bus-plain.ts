/** NATS by hand: JSON, compiled checks, no deadline of the work, no guard. */
import { connect, createInbox } from "@nats-io/transport-node"
import type { Msg, NatsConnection } from "@nats-io/transport-node"
import { Quote, quote, QuoteInput } from "../cases.ts"
import type { BusClient, BusContender } from "./bus.ts"
import { parser } from "./socket.ts"

const SUBJECT = "bench.quote"

/** The client's own `request`. */
export const request: BusContender = {
  serve,
  async connect(url) {
    const connection = await connect({ servers: url })
    return {
      call: async (input) =>
        resultOf(await connection.request(SUBJECT, JSON.stringify(input), { timeout: 30_000 })),
      data: (result) => result,
    }
  },
}

/** A publish and a table of pending requests, without the other costs of `request`. */
export const table: BusContender = {
  serve,
  async connect(url) {
    const connection = await connect({ servers: url })
    return tableOver(connection)
  },
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

function tableOver(connection: NatsConnection): BusClient {
  const inbox = createInbox()
  const waiting = new Map<string, Waiting>()
  let last = 0
  connection.subscribe(`${inbox}.*`, {
    callback(_error, message) {
      const id = message.subject.slice(inbox.length + 1)
      const entry = waiting.get(id)
      waiting.delete(id)
      try {
        entry?.resolve(resultOf(message))
      } catch (error) {
        entry?.reject(error)
      }
    },
  })
  return {
    call: (input) =>
      new Promise((resolve, reject) => {
        const id = (++last).toString(36)
        waiting.set(id, { resolve, reject })
        connection.publish(SUBJECT, JSON.stringify(input), { reply: `${inbox}.${id}` })
      }),
    data: (result) => result,
  }
}

async function serve(url: string): Promise<void> {
  const connection = await connect({ servers: url })
  const parseInput = parser<QuoteInput>(QuoteInput)
  const parseOutput = parser<Quote>(Quote)
  const answer = async (message: Msg): Promise<void> => {
    try {
      const output = parseOutput(await quote(parseInput(message.json())))
      message.respond(JSON.stringify(output))
    } catch (error) {
      message.respond(JSON.stringify({ error: String(error) }))
    }
  }
  connection.subscribe(SUBJECT, {
    queue: "workers",
    // It answers whatever happens.
    callback: (_error, message) => void answer(message),
  })
  await connection.flush()
}

function resultOf(message: Msg): unknown {
  const result: unknown = message.json()
  if (typeof result === "object" && result !== null && "error" in result) {
    throw new TypeError(String(result.error))
  }
  return result
}
