import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CallError } from "../../../src/index.ts"
import type { OperationContext } from "../../../src/index.ts"
import { pause } from "../../../src/internal/wait.ts"
import { serve } from "../../http-client/server.ts"
import { sourceOf } from "../../hub/plain.ts"
import { operation } from "../../support/operations.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { expectShown, tabTo } from "./support/page.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const api = await serve((_, response) => {
  response.setHeader("content-type", "application/json")
  response.end("{}")
})
afterAll(() => api[Symbol.asyncDispose]())
const library = sourceOf("library", { ...fixtures.api.config, baseUrl: api.url })
const site = useConsole(() => [fixtures.operations, library], { record: true })

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const SENT = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }

function region(page: Page | Locator, name: string): Locator {
  return page.getByRole("region", { name, exact: true })
}

describe.skipIf(noBrowser)("the timeline of a call in the console", () => {
  beforeAll(async () => {
    let runs = 0
    const { registry } = site.hub
    registry.register(
      operation("shop.price", {
        type: "query",
        resilience: { retry: { attempts: 2, delay: 1 }, cache: { ttl: 60_000 } },
        handler: async () => {
          await pause(30)
          if (++runs === 1) throw new CallError("UNAVAILABLE", "busy", { retryable: true })
          return 7
        },
      }) as never,
    )
    registry.register(
      operation("shop.order", {
        handler: async (_input: never, { call, log, requestInput }: OperationContext) => {
          log.info("Reserved the article")
          await call("library.getBook", { isbn: "1" })
          await call("shop.price", {})
          await requestInput({ message: "Sure?", schema: { type: "object" } })
          return "ordered"
        },
      }) as never,
    )
    const { hub } = site
    await hub.apply({
      ...hub.config,
      telemetry: { link: "https://traces.example/trace/{traceId}?from=hub" },
    })
  })

  test("shows attempts, the cache, answers, exchanges and log lines, and leads to the trace", async () => {
    await site.hub.registry.execute(
      "shop.order",
      { article: "tea" },
      {
        requestId: "order-1",
        metadata: SENT,
        requestInput: async () => {
          await pause(40)
          return { action: "accept", content: {} }
        },
      },
    )
    const { page, violations, faults } = await site.open("/calls/order-1")
    const panel = page.getByRole("dialog", { name: "shop.order" })
    const waterfall = region(panel, "Waterfall")
    await expectShown(waterfall.getByText("waits for an answer"))
    const lines = await waterfall.getByRole("listitem").allInnerTexts()
    const names = lines.map((line) => line.split("\n")[0]?.trim())
    expect(names).toEqual([
      "shop.order",
      "log info Reserved the article",
      "library.getBook",
      expect.stringMatching(/^GET \/\S+ \(127\.0\.0\.1\) 200$/),
      "shop.price",
      "cache miss",
      "attempt 1 UNAVAILABLE",
      "attempt 2",
      "waits for an answer",
    ])
    const link = panel.getByRole("link", { name: "Open the trace" })
    expect(await link.getAttribute("href")).toBe(`https://traces.example/trace/${TRACE}?from=hub`)
    expect(await axeFindings(page)).toEqual([])
    // Each bar of a call leads to its input and output.
    await tabTo(page, /^library\.getBook/)
    await page.keyboard.press("Enter")
    const below = page.getByRole("dialog", { name: "library.getBook" })
    await expectShown(region(below, "Input"))
    await expectShown(region(below, "Output"))
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await below.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0)
    expect([...violations, ...faults]).toEqual([])
  })

  test("stays in bounds with 10,000 calls, which charts, tables and filters summarize", async () => {
    const { registry } = site.hub
    const { page, violations, faults } = await site.open("/calls")
    await expectShown(page.getByRole("heading", { level: 1, name: "Calls" }))
    for (let round = 0; round < 100; round++) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, at) =>
          registry.execute(at % 10 === 0 ? "act.fail" : "act.count", {}).catch(() => undefined),
        ),
      )
      // The page must keep up meanwhile.
      await pause(0)
    }
    const hour = region(page, "Last hour")
    await expectShown(hour.getByRole("img", { name: /^10,\d{3} calls in the last hour/ }))
    await expectShown(
      hour.getByRole("img", { name: /^1,0\d\d of 10,\d{3} calls and nested calls failed, (9|10)/ }),
    )
    await expectShown(hour.getByRole("img", { name: /^p50 .*, p90 .*, p99 / }))
    // Only what is seen is in the page.
    const rows = await page.getByRole("row").count()
    expect(rows).toBeLessThan(120)
    await expectShown(page.getByText(/older ones not kept/))

    await hour.getByText("By source and operation").click()
    await page.setViewportSize({ width: 390, height: 844 })
    const main = page.getByRole("main")
    expect(await main.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0)
    await page.setViewportSize({ width: 1440, height: 900 })
    await hour.getByRole("button", { name: "act.fail" }).click()
    await expectShown(
      hour.getByRole("img", { name: /^1,000 of 1,000 calls and nested calls failed, 100 %/ }),
    )
    await hour.getByRole("button", { name: "local" }).click()
    await expectShown(hour.getByRole("img", { name: /^10,000 calls in the last hour/ }))
    expect(await axeFindings(page)).toEqual([])
    expect([...violations, ...faults]).toEqual([])
  })

  test("filters calls by operation, code, source, caller and duration", async () => {
    const { registry } = site.hub
    const { page } = await site.open("/calls")
    const identity = { id: "ada", scopes: [] }
    registry.register(operation("slow.one", { handler: () => pause(120) }) as never)
    await registry.execute("slow.one", {}, { identity })
    await registry.execute("library.getBook", { isbn: "1" })
    await registry.execute("act.fail", {}).catch(() => undefined)
    const calls = page.getByLabel("Calls", { exact: true })
    const filter = page.getByLabel(/^Filter by operation/)
    const shown = async (ids: readonly string[]): Promise<void> => {
      await expect
        .poll(async () => {
          const links = await calls.getByRole("row").getByRole("link").allInnerTexts()
          return [...new Set(links)].toSorted()
        })
        .toEqual(ids)
    }
    await filter.fill("caller:ada")
    await shown(["slow.one"])
    await filter.fill("code:sold_out fail")
    await shown(["act.fail"])
    await filter.fill("operation:slow")
    await shown(["slow.one"])
    await filter.fill("caller:nothing")
    await expectShown(page.getByText("No call matches the filter."))
    await filter.fill("")
    await page.getByLabel("Filter by duration").selectOption("100 ms and more")
    await filter.fill("slow")
    await shown(["slow.one"])
    await filter.fill("")
    await page.getByLabel("Filter by duration").selectOption("Any duration")
    await page.getByLabel("Filter by source").selectOption("library")
    await shown(["library.getBook"])
  })
})
