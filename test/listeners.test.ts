import { describe, expect, test } from "vitest"
import { createRegistry, PendingRequestMap, serveCalls } from "../src/index.ts"
import { createMemoryTransports } from "../src/testing.ts"
import type { Logger, OperationContext } from "../src/index.ts"
import { createBusTransport } from "../src/transport/bus/transport.ts"
import { MemoryBroker } from "./transport/bus/memory-bus.ts"
import { operation } from "./support/operations.ts"

/** Ways in which what somebody gave goes wrong. */
const FAULTS: readonly [string, () => unknown][] = [
  [
    "throws",
    () => {
      throw new Error("a listener's own")
    },
  ],
  ["rejects", () => Promise.reject(new Error("a listener's own"))],
]

function keeping(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = []
  const keep = (message: string): void => void lines.push(message)
  return { lines, logger: { debug: keep, info: keep, warn: keep, error: keep } }
}

const steps = operation("test.steps", {
  handler: (_input: unknown, { progress }: OperationContext) => {
    progress({ progress: 1 })
    return "done"
  },
})
const wrong = operation("test.wrong", {
  outputSchema: { type: "number" },
  handler: () => "no number",
})
const bad = operation("test.bad", {
  handler: () => {
    throw new Error("as it should")
  },
})

describe.each(FAULTS)("a listener that %s", (_how, fault) => {
  test.each([
    ["onCall", "A listener of onCall threw"],
    ["onChange", "A change listener threw"],
    ["onWarning", "A result listener threw"],
    ["onError", "onError threw"],
    ["progress", "A progress listener threw"],
  ])("as %s of a registry is logged, and the call comes out as without it", async (name, line) => {
    const { logger, lines } = keeping()
    const given = { [name]: fault } as object
    const registry = createRegistry([steps, wrong, bad], { logger, ...(name in OPTIONS && given) })
    if (name === "onCall") registry.onCall(fault)
    if (name === "onChange") registry.onChange(fault)
    registry.registerAll([operation("test.later", { handler: () => 1 })])
    const options = name === "progress" ? { progress: fault } : {}
    expect((await registry.execute("test.steps", {}, options)).data).toBe("done")
    expect((await registry.execute("test.wrong", {})).data).toBe("no number")
    await expect(registry.execute("test.bad", {})).rejects.toMatchObject({
      code: "EXECUTION_ERROR",
    })
    expect(lines).toContain(line)
  })

  test("as progress of a call over a link is logged, and the call continues", async () => {
    const { logger, lines } = keeping()
    const [near, far] = createMemoryTransports()
    const registry = createRegistry([steps], { logger })
    await using _server = serveCalls(registry, { callMap: new PendingRequestMap(far) })
    await using map = new PendingRequestMap(near, { logger })
    const { data } = await map.call("test.steps", {}, { progress: fault })
    expect(data).toBe("done")
    expect(lines).toContain("A progress listener threw")
  })

  test("as onHealth of a transport over a broker is logged, and the others hear of it", async () => {
    const { logger, lines } = keeping()
    const broker = new MemoryBroker()
    const transport = createBusTransport(broker.bus("ann"), { logger })
    await using map = new PendingRequestMap(transport)
    const reasons: (string | undefined)[] = []
    transport.onHealth(fault)
    transport.onHealth((reason) => reasons.push(reason))
    await transport.whenConnected()
    reasons.length = 0
    broker.stop()
    broker.start()
    expect(reasons).toEqual(["The broker is unreachable.", undefined])
    await expect.poll(() => lines).toContain("A listener of onHealth threw")
    expect(map.getPendingCount()).toBe(0)
  })
})

const OPTIONS = { onWarning: true, onError: true }

test.each(FAULTS)(
  "a logger that %s loses its lines, and nothing else happens",
  async (_how, fault) => {
    const broken = { debug: fault, info: fault, warn: fault, error: fault } as unknown as Logger
    const registry = createRegistry([steps, wrong, bad], { logger: broken })
    registry.onCall(() => {
      throw new Error("so that something is logged")
    })
    expect((await registry.execute("test.steps", {})).data).toBe("done")
    expect((await registry.execute("test.wrong", {})).data).toBe("no number")
    const [near, far] = createMemoryTransports()
    const callMap = new PendingRequestMap(far, { logger: broken })
    await using _server = serveCalls(registry, { callMap, logger: broken })
    await using map = new PendingRequestMap(near, { logger: broken })
    near.send({ type: "nonsense" } as never)
    await expect(map.call("test.bad", {})).rejects.toMatchObject({ code: "EXECUTION_ERROR" })
    expect((await map.call("test.steps", {})).data).toBe("done")
  },
)
