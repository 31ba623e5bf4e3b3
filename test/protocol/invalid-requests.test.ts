// Requests that do not match the schema of events, as a peer of another version or a hand-written client sends them.
import { once } from "node:events"
import { describe, expect, onTestFinished, test } from "vitest"
import { WebSocket } from "ws"
import { createRegistry, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import { serveHTTP } from "../../src/node.ts"
import { INVALID_FIELDS, REFUSED, REQUEST } from "../support/invalid-requests.ts"
import { operation } from "../support/operations.ts"

const INVALID: readonly object[] = [
  ...INVALID_FIELDS,
  { operationId: 7 },
  { operationId: "" },
  { timeout: "soon" },
]

let runs = 0
const registryOf = () =>
  createRegistry([operation("a.b", { handler: () => ++runs })], { logger: silentLogger })

/** Sends an event as it is; resolves to the first event that comes back. */
const WAYS: Readonly<Record<string, (event: object) => Promise<unknown>>> = {
  memory: async (event) => {
    const [server, near] = createMemoryTransports()
    const serving = serveCalls(registryOf(), {
      transport: server,
      logger: silentLogger,
      resolveIdentity: () => undefined,
    })
    onTestFinished(() => serving.close())
    return await new Promise((resolve) => {
      const ignore = (): void => undefined
      near.open({ event: resolve, undelivered: ignore, lost: ignore, restored: ignore })
      near.send(event as never)
    })
  },
  WebSocket: async (event) => {
    const served = await serveHTTP(registryOf(), { port: 0, logger: silentLogger })
    onTestFinished(() => served.close())
    const socket = new WebSocket(`${served.url.replace("http", "ws")}/ws`)
    onTestFinished(() => socket.close())
    await once(socket, "open")
    socket.send(JSON.stringify(event))
    const [frame] = (await once(socket, "message")) as [Buffer]
    return JSON.parse(frame.toString()) as unknown
  },
}

describe.each(Object.entries(WAYS))("a request over %s", (way, send) => {
  test.each(INVALID)("is answered with VALIDATION_ERROR if it has %j", async (wrong) => {
    runs = 0
    expect(await send({ ...REQUEST, ...wrong })).toMatchObject(REFUSED)
    expect(runs).toBe(0)
  })

  if (way !== "WebSocket") return
  test("is answered if it marks bytes where there are none", async () => {
    runs = 0
    expect(await send({ ...REQUEST, binary: { "/nowhere": "bytes" } })).toMatchObject(REFUSED)
    expect(runs).toBe(0)
  })
})
