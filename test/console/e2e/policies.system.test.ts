import { mkdtempSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { systemClock } from "../../../src/internal/clock.ts"
import { sourceOf } from "../../hub/plain.ts"
import { freePort } from "../../support/free-port.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { button, expectQuiet, expectShown, field, openOperation } from "./support/page.ts"
import { run, tab } from "./support/page.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const REST_MS = 120_000
/** By how much the time of the hub is ahead: a rest of the breaker is over when the test says so. */
let ahead = 0
const clock = { ...systemClock, now: () => systemClock.now() + ahead }

const dir = mkdtempSync(join(tmpdir(), "console-policies-"))
const port = await freePort()
const document = join(dir, "api.json")
const parameters = [{ name: "n", in: "query", schema: { type: "string" } }]
const json = { "application/json": { schema: {} } }
const get = {
  operationId: "read",
  parameters,
  responses: { 200: { description: "", content: json } },
}
writeFileSync(
  document,
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Things", version: "1.0.0" },
    paths: { "/things": { get } },
  }),
)
const api = sourceOf("api", {
  openapi: document,
  baseUrl: `http://127.0.0.1:${port}`,
  resilience: {
    breaker: { minimumCalls: 3, windowMs: 10 * REST_MS, openMs: REST_MS },
    cache: { ttl: 10 * REST_MS },
    concurrency: { max: 8 },
  },
})

let server: Server | undefined

async function startAPI(): Promise<void> {
  const started = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end('{"a":1}')
  })
  server = started
  await new Promise<void>((resolve) => started.listen(port, "127.0.0.1", resolve))
}

async function stopAPI(): Promise<void> {
  await new Promise<void>((resolve) => {
    server?.close(() => resolve())
    server?.closeAllConnections()
  })
}

beforeAll(startAPI)
afterAll(async () => {
  await stopAPI()
  await rm(dir, { recursive: true, force: true })
})

describe.skipIf(noBrowser)("the policies of an operation", () => {
  const site = useConsole(() => [fixtures.operations, api], {}, { clock })

  test("show what applies and how it is doing, while an API dies and comes back", async () => {
    const opened = await site.open("/o/api.read")
    const { page } = opened
    const call = async (n: string): Promise<unknown> => {
      await tab(page, "Try").click()
      await field(page, "n").fill(n)
      const { body } = await run(page)
      return body.code
    }
    const now = (policy: string) => page.getByRole("row", { name: new RegExp(`^${policy} `) })
    const word = (text: string) => page.locator(".operation-head").getByText(text)

    expect([await call("1"), await call("1")]).toEqual([undefined, undefined])
    await tab(page, "Policies").click()
    await expectShown(now("breaker").getByText('Calls of source "api" go through.'))
    await expectShown(now("breaker").getByText('source "api"', { exact: true }))
    await expectShown(now("breaker").getByText("minimumCalls 3, windowMs 1200000, openMs 120000"))
    await expectShown(now("cache").getByText(/^1 hit, 1 miss; 1 result, /))
    await expectShown(now("concurrency").getByText("0 running, 0 waiting"))
    expect(await word("circuit").count()).toBe(0)

    await stopAPI()
    expect([await call("2"), await call("3"), await call("4")]).toEqual([
      "UNAVAILABLE",
      "UNAVAILABLE",
      "CIRCUIT_OPEN",
    ])
    // What is kept is still returned.
    expect(await call("1")).toBeUndefined()
    await expectShown(word("circuit open"))
    await tab(page, "Policies").click()
    await expectShown(
      now("breaker").getByText(/are refused\. The last failure was UNAVAILABLE\. Next try in /),
    )
    expect(await axeFindings(page)).toEqual([])

    await page.evaluate(() => {
      location.hash = "#/sources"
    })
    const first = page.getByRole("article").first()
    await expectShown(first.getByText("circuit open"))
    expect(await first.getAttribute("aria-label")).toBe("Source api")
    await expectShown(button(first, "Details"))
    if ((await button(first, "Details").getAttribute("aria-expanded")) !== "true") {
      await button(first, "Details").click()
    }
    await expectShown(
      first.getByRole("region", { name: "Circuit breakers" }).getByText("are refused."),
    )
    expect(await axeFindings(page)).toEqual([])

    ahead += REST_MS
    await startAPI()
    await openOperation(page, "api.read")
    await expectShown(word("circuit half open"))
    expect(await call("5")).toBeUndefined()
    await word("circuit").waitFor({ state: "detached" })
    await tab(page, "Policies").click()
    await expectShown(now("breaker").getByText("circuit closed"))
    await expectQuiet(opened, site.url)
  })

  test("are not there for an operation without any", async () => {
    const { page } = await site.show("/o/act.table?tab=policies")
    await expectShown(tab(page, "Schema"))
    expect(await tab(page, "Policies").count()).toBe(0)
    expect(await tab(page, "Try").getAttribute("aria-selected")).toBe("true")
  })
})
