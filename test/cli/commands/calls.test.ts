import { describe, expect, onTestFinished, test } from "vitest"
import type { OperationContext } from "../../../src/index.ts"
import { createHub } from "../../../src/hub/create-hub.ts"
import { serveHub, type ServedHub } from "../../../src/hub/serve-hub.ts"
import { resolveConfig } from "../../../src/config.ts"
import { hashApiKey } from "../../../src/to-http.ts"
import { silentLogger } from "../../../src/testing.ts"
import { pause } from "../../../src/internal/wait.ts"
import { operation } from "../../support/operations.ts"
import { runCommand, type Ran, type RunOptions } from "../../support/command-io.ts"

const CANARY = "canary-1c77"
const KEYS = { admin: "k-admin-1b52d8f4", reader: "k-reader-93c1e0a7" } as const

interface Site {
  readonly served: ServedHub
  readonly call: (id: string, requestId?: string) => Promise<void>
  readonly calls: (args: readonly string[], options?: RunOptions) => Promise<Ran>
}

async function site(server: Readonly<Record<string, unknown>> = {}): Promise<Site> {
  const hub = createHub(resolveConfig({ server }, { baseDir: import.meta.dirname }), {
    logger: silentLogger,
    env: {},
  })
  onTestFinished(() => hub.close())
  hub.registry.register(operation("shop.price", { type: "query", handler: () => 7 }) as never)
  hub.registry.register(
    operation("shop.order", {
      handler: async (_: never, { call, log }: OperationContext) => {
        log.info("Reserved the article")
        await call("shop.price", {})
        await call("shop.fail", {}).catch(() => undefined)
      },
    }) as never,
  )
  hub.registry.register(
    operation("shop.fail", {
      handler: () => {
        throw new Error(CANARY)
      },
    }) as never,
  )
  await hub.ready()
  const served = await serveHub(hub, { port: 0, console: false })
  onTestFinished(() => served.close())
  return {
    served,
    call: async (id, requestId) =>
      void (await hub.registry
        .execute(id, { secret: CANARY }, { requestId })
        .catch(() => undefined)),
    calls: (args, options) => runCommand(["calls", ...args, "--hub", served.url], options),
  }
}

/** Makes calls until the command has ended: it follows only what happens once it is connected. */
async function during(work: () => Promise<void>, command: Promise<Ran>): Promise<Ran> {
  let isOver = false
  const ended = command.finally(() => (isOver = true))
  while (!isOver) {
    await work()
    // Real time passes: the hub sends events in steps of 100 ms.
    await pause(20)
  }
  return await ended
}

describe("operations calls", () => {
  test("follows calls as they end, with their outcome, duration and request id", async () => {
    const { call, calls } = await site()
    const work = (): Promise<void> => call("shop.order", "r-7")
    const { code, stdout, stderr } = await during(work, calls(["-n", "3"]))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const lines = stdout.trimEnd().split("\n")
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      expect(line).toMatch(
        /^\d\d:\d\d:\d\d\.\d{3} +[\d.]+ m?s {2}(?:ok|EXECUTION_ERROR) +(?:└ )?shop\.\w+ {2}anonymous {2}\S+$/,
      )
    }
    expect(stdout).not.toContain(CANARY)
  })

  test("break no id on a terminal that is too narrow for a call", async () => {
    const { call, calls } = await site()
    const id = "7313955d-4f47-4ab2-8460-16576622b0d2"
    const env = { NO_COLOR: "1" }
    const work = (): Promise<void> => call("shop.order", id)
    const own = ["--operation", "shop.order", "-n", "1"]
    const { stdout } = await during(work, calls(own, { columns: 80, env }))
    expect(stdout).toMatch(/ok +shop\.order\n {2}anonymous {2}7313955d-[\w-]+\n$/)
    const wide = await during(work, calls(own, { columns: 120, env }))
    expect(wide.stdout).toMatch(/shop\.order {2}anonymous {2}7313955d-[\w-]+\n$/)
    const timeline = await calls([id], { columns: 60, env })
    const lines = timeline.stdout.split("\n")
    expect(lines.filter((line) => line.startsWith("request") && line.length > 60)).toEqual([])
    expect(timeline.stdout).toMatch(/\d{4}-\d\d-\d\dT\d\d:/)
  })

  test("--failed, --slow and --operation choose, and --json is a value a line", async () => {
    const { call, calls } = await site()
    const work = (): Promise<void> => call("shop.order")
    const failed = await during(work, calls(["--failed", "-n", "2", "--json"]))
    const parsed = failed.stdout
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line))
    const one = { phase: "end", operationId: "shop.fail", outcome: "error" }
    expect(parsed).toMatchObject([one, one])
    const price = await during(work, calls(["--operation", "*.price", "-n", "1"]))
    expect(price.stdout).toContain("shop.price")
    const slow = new AbortController()
    const none = calls(["--slow", "60000"], { signal: slow.signal })
    for (let round = 0; round < 20; round++) await work()
    slow.abort("SIGINT")
    expect(await none).toMatchObject({ code: 0, stdout: "" })
  })

  test("prints the timeline of one call, without what it carried", async () => {
    const { call, calls } = await site({ record: true })
    await call("shop.order", "r-1")
    const { code, stdout } = await calls(["r-1"])
    expect(code).toBe(0)
    const [head, ...rows] = stdout.trimEnd().split("\n")
    expect(head).toMatch(/^request r-1, by call, caller anonymous, \d{4}-/)
    expect(rows.map((row) => row.replaceAll(/.*[█·]/g, "").trim())).toEqual([
      expect.stringMatching(/^shop\.order +ok$/),
      expect.stringMatching(/^log info +Reserved the article$/),
      expect.stringMatching(/^shop\.price +ok$/),
      expect.stringMatching(/^shop\.fail +EXECUTION_ERROR$/),
    ])
    expect(stdout).not.toContain(CANARY)
    const json = await calls(["r-1", "--json"])
    const { timelines } = JSON.parse(json.stdout) as { timelines: { calls: unknown[] }[] }
    expect(timelines[0]?.calls).toHaveLength(3)
  })

  test("says what to do without a hub, a credential or a call", async () => {
    const key = { hash: hashApiKey(KEYS.admin), id: "root", scopes: ["hub:admin"] }
    const { calls, call } = await site({
      apiKeys: [key, { ...key, hash: hashApiKey(KEYS.reader), scopes: [] }],
    })
    await call("shop.price", "r-9")
    const as = (token: string): Promise<Ran> => calls(["r-9"], { env: { OPERATIONS_TOKEN: token } })
    const none = await runCommand(["calls"])
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("Say which hub") })
    expect((await calls(["r-9"])).stderr).toContain("set OPERATIONS_TOKEN")
    expect((await as(KEYS.reader)).stderr).toContain('needs the scope "hub:admin"')
    expect(await as(KEYS.admin)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("shop.price"),
    })
    const gone = await calls(["r-0"], { env: { OPERATIONS_TOKEN: KEYS.admin } })
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining("does not remember") })
  })

  test("ends with an error when the hub stops serving", async () => {
    const { served, call, calls } = await site()
    let closing: Promise<void> | undefined
    const following = calls([], { onOutput: () => void (closing ??= served.close()) })
    const { code, stderr } = await during(() => call("shop.price"), following)
    await closing
    expect(code).toBe(1)
    expect(stderr).toContain("has ended the stream of its calls")
  })
})
