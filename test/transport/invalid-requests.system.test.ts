// Requests over brokers that do not match the schema of events: answered as over WebSocket.
import { describe, expect, onTestFinished, test } from "vitest"
import { serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { INVALID_FIELDS, REFUSED, REQUEST } from "../support/invalid-requests.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { EACH_BUS } from "./each-bus.ts"

describe.each(EACH_BUS)("invalid requests over %s", (_name, start) => {
  test.each(["query", "mutation"] as const)(
    "of a %s are answered with VALIDATION_ERROR, and valid ones after them run",
    async (type) => {
      await using bus = await start()
      let runs = 0
      const registry = quietRegistry([operation("a.b", { type, handler: () => ++runs })])
      const transport = bus.transport()
      const server = serveCalls(registry, { transport, logger: silentLogger })
      onTestFinished(() => server.close())
      const near = bus.transport()
      onTestFinished(() => near.close())
      const received: unknown[] = []
      const ignore = (): void => undefined
      near.open({
        event: (event) => void received.push(event),
        undelivered: (event, error) => void received.push([event, error]),
        lost: ignore,
        restored: ignore,
      })
      await Promise.all([transport.whenConnected(), near.whenConnected()])
      const invalid = INVALID_FIELDS.map((fields, at) => ({
        ...{ ...REQUEST, timeout: 60_000, ...fields },
        requestId: `r${at}`,
      }))
      for (const event of invalid) near.send(event as never)
      await expect.poll(() => received.length).toBe(invalid.length)
      const byId = (event: unknown): number => Number((event as typeof REFUSED).requestId.slice(1))
      expect(received.toSorted((a, b) => byId(a) - byId(b))).toEqual(
        invalid.map(({ requestId }) => expect.objectContaining({ ...REFUSED, requestId })),
      )
      expect(runs).toBe(0)
      near.send({ ...REQUEST, requestId: "valid", timeout: 60_000 } as never)
      await expect.poll(() => received.length).toBe(invalid.length + 1)
      expect(received.at(-1)).toMatchObject({ type: "call.responded", requestId: "valid" })
      expect(runs).toBe(1)
    },
  )
})
