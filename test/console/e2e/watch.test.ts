import type { Page } from "playwright-core"
import { beforeEach, describe, expect, test } from "vitest"
import { seen } from "../../fixtures/console/seen.ts"
import { button, expectShown, openOperation } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"
import { waitFor } from "../../support/wait-for.ts"

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
  const site = useConsole(() => [fixtures.operations])

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
    await page.getByRole("link", { name: "History" }).click()
    await expectShown(page.getByRole("main").getByText("live.numbers"))
    expect(violations).toEqual([])
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

  test("going to another operation ends the handler", async () => {
    const { page } = await site.show("/o/live.numbers")
    await start(page)
    await openOperation(page, "act.table")
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
