import type { Page } from "playwright-core"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { seen } from "../../fixtures/console/seen.ts"
import { serve } from "../../http-client/server.ts"
import { sourceOf } from "../../hub/plain.ts"
import { button, expectShown, openOperation, run } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"
import { waitFor } from "../../support/wait-for.ts"

const api = await serve((_, response) => void response.end("{}"))
afterAll(() => api[Symbol.asyncDispose]())

const library = sourceOf("library", { ...fixtures.api.config, baseUrl: api.url })
const site = useConsole(() => [fixtures.operations, library, fixtures.missing])

describe.skipIf(noBrowser)("seeing what happens", () => {
  test("shows a call that happens while the page connects", async () => {
    const { page } = await site.open("/")
    let connect = (): void => {}
    const connected = new Promise<void>((resolve) => (connect = resolve))
    await page.route("**/hub/events", async (route) => {
      await connected
      await route.continue()
    })
    const remembered = page.waitForResponse(/hub\/stats/)
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    await (await remembered).finished()
    await site.hub.registry.execute("act.compose", {})
    connect()
    await expectShown(page.getByLabel("Calls", { exact: true }).getByText("act.compose"))
  })

  test("shows calls as they happen, nested ones below the call that made them", async () => {
    const { page, faults, violations } = await site.show("/calls")
    await expectShown(page.getByRole("heading", { level: 1, name: "Calls" }))
    await site.hub.registry.execute("act.compose", {})
    const calls = page.getByLabel("Calls", { exact: true })
    await expectShown(calls.getByText("act.compose"))
    const closed = calls.locator('[aria-expanded="false"]')
    if (await closed.count()) await closed.first().click()
    await expectShown(calls.getByText("act.count"))
    await expectShown(calls.getByText("act.fail"))
    await expectShown(calls.getByText("SOLD_OUT"))
    const levels = await calls
      .locator("[aria-level]")
      .evaluateAll((nodes) => nodes.map((node) => node.getAttribute("aria-level")))
    expect(levels).toEqual(expect.arrayContaining(["1", "2"]))
    expect([...faults, ...violations]).toEqual([])
  })

  test("shows calls of before, and counts errors by code", async () => {
    const { page } = await site.show("/o/act.fail")
    await run(page)
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    await expectShown(page.getByRole("main").getByText("SOLD_OUT"))
    await expectShown(page.getByRole("main").getByText(/p50/))
  })

  test("shows sources, how they are, and why one is not there", async () => {
    const { page, faults } = await site.show("/sources")
    await expectShown(page.getByRole("heading", { level: 1, name: "Sources" }))
    const main = page.getByRole("main")
    for (const name of ["local", "library", "missing"]) {
      await expectShown(main.getByText(name, { exact: true }))
    }
    await expectShown(main.getByText("failed"))
    await expectShown(main.getByText(/nowhere\.json/))
    await button(page.getByRole("article", { name: "Source local" }), "Import report").click()
    await expectShown(main.getByText(/kept/i))
    expect(faults).toEqual([])
  })

  test("shows a source whose server is gone as lost, after one failed call", async () => {
    const { page } = await site.show("/sources")
    const card = page.getByRole("article", { name: "Source library" })
    await expectShown(card.getByText("ready"))
    await api[Symbol.asyncDispose]()
    await site.hub.registry.execute("library.getBook", { isbn: "1" }).catch(() => undefined)
    await expectShown(card.getByText("lost"))
    await expectShown(card.getByText(/cannot be reached/))
  })

  test("leads from a call to its operation", async () => {
    const { page } = await site.show("/calls")
    await openOperation(page, "act.table")
    await run(page)
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    await expectShown(page.getByLabel("Calls", { exact: true }).getByText("act.table"))
  })
  test("shows what is counted of a call, and how to see more, where nothing is recorded", async () => {
    await site.hub.registry.execute("act.table", {})
    const { page } = await site.show("/calls")
    const row = page.getByRole("row").filter({ hasText: "act.table" }).first()
    await row.getByRole("gridcell").nth(1).click()
    const panel = page.getByRole("dialog", { name: "act.table" })
    await expectShown(panel.getByText("record: true"))
    const waterfall = panel.getByRole("region", { name: "Waterfall", exact: true })
    await expectShown(waterfall.getByText("act.table"))
    expect(await button(panel, "Open with this input").count()).toBe(0)
  })
})

beforeEach(() => void seen().events.splice(0))

async function expectStopped(): Promise<void> {
  await waitFor(() => expect(seen().events).toEqual(["numbers started", "numbers stopped"]))
}

async function start(page: Page): Promise<void> {
  await button(page, /^Start/).click()
  await waitFor(() => expect(seen().events).toEqual(["numbers started"]))
}

function items(page: Page): Promise<string> {
  return page.getByLabel("Items", { exact: true }).innerText()
}

describe.skipIf(noBrowser)("watching a subscription", () => {
  test("shows items as they come, with a chart of numbers", async () => {
    const { page, violations } = await site.show("/o/live.numbers")
    await start(page)
    await expect.poll(() => items(page)).toMatch(/tick/)
    await page.getByRole("figure").getByRole("img").waitFor()
    await expectShown(page.getByText(/per second/))
    await button(page, "Stop").click()
    await expectStopped()
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      button(page, "Download").click(),
    ])
    expect(file.suggestedFilename()).toBe("items.ndjson")
    await page.getByRole("link", { name: "History", exact: true }).click()
    await expectShown(page.getByRole("main").getByText("live.numbers"))
    expect(violations).toEqual([])
  })

  test("shows the parts of an item below those of the item before it", async () => {
    const { page } = await site.show("/o/live.numbers")
    await start(page)
    const rows = page.getByLabel("Items", { exact: true }).getByRole("listitem")
    await rows.nth(1).waitFor()
    await button(page, "Stop").click()
    await expectStopped()
    const edges: unknown[] = []
    for (const at of [0, 1]) {
      const parts = rows.nth(at).locator(".item-cells > span")
      expect((await parts.allTextContents()).join()).toMatch(
        /^tick \d+,value [-\d.]+,kind (?:odd|even)$/,
      )
      edges.push(await parts.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().x)))
      // A line of text is about 20 high: what is in the line above is not cut off.
      for (const part of await parts.all()) {
        expect((await part.boundingBox())?.height).toBeGreaterThan(15)
      }
    }
    expect(edges[0]).toEqual(edges[1])
  })

  test("stands still while it is paused, and goes on", async () => {
    const { page } = await site.show("/o/live.numbers")
    await start(page)
    await expect.poll(() => items(page)).toMatch(/tick/)
    await button(page, "Pause").click()
    await button(page, /^Resume/).waitFor()
    const first = await items(page)
    await expect.poll(() => items(page)).toBe(first)
    await button(page, /^Resume/).click()
    await expect.poll(() => items(page)).not.toBe(first)
    await button(page, "Stop").click()
    await expectStopped()
  })

  test("shows only what a filter lets through", async () => {
    const { page } = await site.show("/o/live.numbers")
    await start(page)
    await page.getByLabel("Filter items").fill("even")
    await expect
      .poll(async () => /even/.test(await items(page)) && !/odd/.test(await items(page)))
      .toBe(true)
    await button(page, "Stop").click()
    await expectStopped()
  })

  test("a stream that breaks shows why, and keeps its items", async () => {
    const { page } = await site.show("/o/live.breaks")
    await button(page, /^Start/).click()
    await expectShown(page.getByRole("alert"))
    expect(await items(page)).toMatch(/part/)
    await button(page, /^Start/).waitFor()
  })

  test("closing the tab ends the handler", async () => {
    const { page } = await site.show("/o/live.numbers")
    await start(page)
    await page.close()
    await expectStopped()
  })
})
