import { describe, expect, onTestFinished, test } from "vitest"
import { createClient, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation, quietRegistry } from "../support/operations.ts"

const BROKERS = await provideBrokers()
const logger = silentLogger
const TRANSPORTS = {
  NATS: (servers: string) => createNatsTransport({ servers, prefix: "early", logger }),
  Redis: (url: string) => createRedisTransport({ url, prefix: "early", logger }),
}
type Name = keyof typeof TRANSPORTS

describe("whenConnected of a transport that nothing uses yet", () => {
  test.each(Object.keys(BROKERS) as Name[])("connects to %s", async (name) => {
    await using broker = await BROKERS[name]?.()
    const [serving, calling] = [1, 2].map(() => TRANSPORTS[name](broker?.url ?? ""))
    if (serving === undefined || calling === undefined) throw new Error("two transports")
    onTestFinished(async () => void (await Promise.all([serving.close(), calling.close()])))
    await Promise.all([serving.whenConnected(), serving.whenConnected(), calling.whenConnected()])
    expect(serving.isConnected).toBe(true)
    const registry = quietRegistry([operation("a.b", { handler: () => 1 })])
    serveCalls(registry, { transport: serving })
    const client = createClient(calling, { logger })
    expect((await client.call("a.b", {})).data).toBe(1)
  })

  test.each(Object.keys(BROKERS) as Name[])("rejects when %s was closed", async (name) => {
    await using broker = await BROKERS[name]?.()
    const transport = TRANSPORTS[name](broker?.url ?? "")
    await transport.close()
    await expect(transport.whenConnected()).rejects.toMatchObject({ code: "UNAVAILABLE" })
  })
})
