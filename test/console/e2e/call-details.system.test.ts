import { readFile } from "node:fs/promises"
import type { Locator, Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { button, expectShown, field } from "./support/page.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

function line(page: Page, id: string): Locator {
  return page.getByRole("row").filter({ hasText: id }).first()
}

function section(panel: Locator, name: string): Locator {
  return panel.getByRole("region", { name, exact: true })
}

describe.skipIf(noBrowser)("looking into a call", () => {
  const site = useConsole(() => [fixtures.operations], { record: true })

  test("shows when it and its nested calls ran, what went in and what came out", async () => {
    const { page, violations, faults } = await site.show("/calls")
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    const metadata = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
    await site.hub.registry.execute("act.compose", {}, { metadata })
    await line(page, "act.compose").getByRole("gridcell").nth(1).click()
    const panel = page.getByRole("dialog", { name: "act.compose" })
    await expectShown(panel.getByText(trace))
    expect(await section(panel, "Waterfall").getByRole("button").count()).toBe(3)
    await expectShown(section(panel, "Output").getByText(/the same/))

    // From a call to the one below it that failed, and why.
    await section(panel, "Waterfall")
      .getByRole("button", { name: /act\.fail/ })
      .click()
    const failed = page.getByRole("dialog", { name: "act.fail" })
    await expectShown(section(failed, "Error").getByText('Nothing is left of "mug".'))
    await expectShown(section(failed, "Input").getByText('"mug"'))
    await expectShown(failed.getByText("Called by"))
    expect(await axeFindings(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await failed.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0)
    expect([...violations, ...faults]).toEqual([])
  })

  test("names the call that a failure began in, has an address, and counts a failure once", async () => {
    await expect(site.hub.registry.execute("act.relay", {})).rejects.toThrow("Nothing is left")
    const { page } = await site.show()
    const failures = page.getByRole("region", { name: "Recent failures" })
    const item = failures.getByRole("listitem").filter({ hasText: "act.relay" })
    await expectShown(item.getByText("in act.fail"))
    expect(await item.count()).toBe(1)
    await item.getByRole("link").click()
    const panel = page.getByRole("dialog", { name: "act.relay" })
    await expectShown(panel.getByText("Failed in act.fail"))
    expect(page.url()).toMatch(/#\/calls\/.+/)
    // One id, not also that of the call that it failed in.
    await expectShown(panel.getByRole("region", { name: "Error" }))
    expect(await panel.getByText(/^Request\b/).count()).toBe(1)
    await page.reload()
    await expectShown(panel.getByText("Failed in act.fail"))
    await button(panel, "act.fail").click()
    await expectShown(page.getByRole("dialog", { name: "act.fail" }).getByText("Called by"))
    expect(await axeFindings(page)).toEqual([])
  })

  test("works by keyboard, and gives the focus back", async () => {
    await site.hub.registry.execute("act.count", {})
    const { page } = await site.show("/calls")
    // The row itself: another call may appear above it.
    const row = await line(page, "act.count").elementHandle()
    await row?.focus()
    await page.keyboard.press("Enter")
    const panel = page.getByRole("dialog", { name: "act.count" })
    await panel.waitFor()
    await page.keyboard.press("Escape")
    await panel.waitFor({ state: "hidden" })
    await expect.poll(() => row?.evaluate((it) => it === document.activeElement)).toBe(true)
  })

  test("runs a call again with its input, and gives it to other programs", async () => {
    const input = { sku: "cup" }
    await site.hub.registry
      .execute("act.fail", input, { requestId: "again" })
      .catch(() => undefined)
    const { page } = await site.show("/calls")
    await line(page, "act.fail").getByRole("gridcell").nth(1).click()
    const panel = page.getByRole("dialog", { name: "act.fail" })
    await button(panel, "Copy as curl").click()
    await expectShown(button(panel, "Copied"))
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain("/operations/act.fail")
    expect(copied).toContain('{"sku":"cup"}')
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      button(panel, "Export").click(),
    ])
    expect(file.suggestedFilename()).toBe("call-again.json")
    expect(JSON.parse(await readFile(await file.path(), "utf8"))).toMatchObject({
      call: { operationId: "act.fail", code: "SOLD_OUT" },
      recorded: { input: { value: input }, problem: { code: "SOLD_OUT" } },
    })
    // The call has an address, which leads to it also in a fresh page.
    const address = page.url()
    expect(address).toMatch(/#\/calls\/again$/)
    await page.reload()
    await panel.waitFor()
    await page.keyboard.press("Escape")
    await panel.waitFor({ state: "hidden" })
    expect(page.url()).toMatch(/#\/calls$/)
    await page.goto(address)
    await button(panel, "Open with this input").click()
    await expect.poll(() => field(page, "sku").inputValue()).toBe("cup")
  })
})
