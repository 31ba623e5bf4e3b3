// The rules of a registry behind a broker.
import { onTestFinished } from "vitest"
import { createClient, serveCalls, type Transport } from "../../src/index.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { silentLogger as logger } from "../../src/testing.ts"
import { provideBrokers } from "../support/brokers.ts"
import { answering, outcome, testWays, type Open } from "./ways.ts"

const BROKERS = await provideBrokers()
const LINKS: Readonly<Record<string, (url: string) => Transport>> = {
  NATS: (servers) => createNatsTransport({ servers, logger }),
  Redis: (url) => createRedisTransport({ url, logger }),
}

const over =
  (broker: string): Open =>
  async (registry) => {
    const started = await BROKERS[broker]!()
    onTestFinished(() => started[Symbol.asyncDispose]())
    const { url } = started
    const [serving, calling] = [LINKS[broker]!(url), LINKS[broker]!(url)]
    const server = serveCalls(registry, { transport: serving, logger })
    const client = createClient(calling, { logger })
    onTestFinished(async () => {
      await client.close()
      await server.close()
      await Promise.all([serving.close(), calling.close()])
    })
    return (answer, input) => outcome(client.call("files.remove", input, { ...answering(answer) }))
  }

testWays(Object.fromEntries(Object.keys(BROKERS).map((name) => [name, [over(name), true]])))
