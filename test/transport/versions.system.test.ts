import { describe, expect, onTestFinished, test } from "vitest"
import { fromCall, PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { CallServer } from "../../src/index.ts"
import { isCompatible } from "../../src/transport/bus/wire/versions.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { EACH_BUS } from "./each-bus.ts"
import type { TestBus } from "./each-bus.ts"

/** A worker that serves one version of an operation, beside another that all have in the same version. */
async function startWorker(bus: TestBus, version: string): Promise<CallServer> {
  const type = "mutation" as const
  const registry = quietRegistry([
    operation("shop.price", { type, version, handler: () => version }),
    operation("shop.lookup", { type: "query", version, handler: () => version }),
    operation("shop.other", { type, handler: () => version }),
  ])
  const transport = bus.transport()
  const server = serveCalls(registry, { transport, logger: silentLogger })
  await transport.whenConnected()
  onTestFinished(() => server.close())
  return server
}

/** What a caller imports now. */
async function importFrom(bus: TestBus) {
  const map = new PendingRequestMap(bus.transport(), { logger: silentLogger })
  onTestFinished(() => map.close())
  const registry = quietRegistry(await fromCall(map))
  /** The versions that answered so many calls. */
  const answers = async (name: string, calls = 30): Promise<string[]> => {
    const all = Array.from({ length: calls }, () => registry.execute(`shop.${name}`, {}))
    return [...new Set((await Promise.all(all)).map(({ data }) => String(data)))].toSorted()
  }
  return { map, registry, answers }
}

describe.each(EACH_BUS)("versions of an operation, over %s", (_name, start) => {
  test("every call goes to the version that its caller imported", async () => {
    await using bus = await start()
    await startWorker(bus, "1.0.0")
    const first = await importFrom(bus)
    await startWorker(bus, "2.0.0")
    await startWorker(bus, "2.0.0")
    const second = await importFrom(bus)
    // One that starts after both have asked who is there.
    await startWorker(bus, "1.0.0")
    expect(await first.answers("price")).toEqual(["1.0.0"])
    expect(await first.answers("lookup")).toEqual(["1.0.0"])
    expect(await second.answers("price")).toEqual(["2.0.0"])
    expect(await second.answers("lookup")).toEqual(["2.0.0"])
    // What all serve in one version is shared by all.
    expect(await second.answers("other", 100)).toEqual(["1.0.0", "2.0.0"])
  })

  test("a compatible later version replaces one without workers", async () => {
    await using bus = await start()
    const old = await startWorker(bus, "1.2.0")
    const { answers } = await importFrom(bus)
    await startWorker(bus, "1.3.0")
    await startWorker(bus, "2.0.0")
    expect(await answers("price")).toEqual(["1.2.0"])
    await old.drain()
    expect(await answers("price")).toEqual(["1.3.0"])
  })

  test("a version without workers is UNAVAILABLE, and nothing runs", async () => {
    await using bus = await start()
    const old = await startWorker(bus, "1.0.0")
    const { registry, map } = await importFrom(bus)
    await startWorker(bus, "2.0.0")
    await old.drain()
    const options = { timeout: 20_000 }
    for (const name of ["price", "lookup"]) {
      const failed = registry.execute(`shop.${name}`, {}, options)
      await expect(failed).rejects.toMatchObject({
        code: "UNAVAILABLE",
        mayHaveExecuted: false,
        retryable: true,
        message: expect.stringContaining("workers serve 2.0.0") as unknown,
      })
    }
    const { data } = await map.call("shop.price", {})
    expect(data).toBe("2.0.0")
  })
})

test.each([
  ["1.0.0", "1.0.0", true],
  ["1.1.0", "1.0.0", true],
  ["1.0.1", "1.0.0", true],
  ["1.0.0", "1.0.1", false],
  ["2.0.0", "1.0.0", false],
  ["0.2.1", "0.2.0", true],
  ["0.3.0", "0.2.0", false],
  ["2.0.0", "2.0.0-beta", true],
  ["2.0.0-beta", "2.0.0", false],
  ["2026-01-01", "2025-01-01", false],
  ["latest", "latest", true],
  ["1.0", "1.0.0", false],
])("version %j serves those who imported %j: %j", (served, imported, isFine) => {
  expect(isCompatible(served, imported)).toBe(isFine)
})
