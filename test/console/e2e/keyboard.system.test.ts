import { describe, expect, test } from "vitest"
import type { Page } from "playwright-core"
import { expectShown, listed, result, tabTo } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

/** Types a query into the palette, and opens what it finds first. */
async function go(page: Page, query: string, heading: string): Promise<void> {
  await page.keyboard.press("Control+K")
  await page.getByRole("combobox", { name: "Search everything" }).waitFor()
  await page.keyboard.type(query)
  await page.getByRole("option").filter({ hasText: query }).first().waitFor()
  await page.keyboard.press("Enter")
  await expectShown(page.getByRole("heading", { level: 1, name: heading }))
}

describe.skipIf(noBrowser)("with the keyboard alone", () => {
  const site = useConsole(() => [fixtures.operations, fixtures.missing], { record: true })

  test("an operation is found and called", async () => {
    const { page } = await site.show()
    await expectShown(listed(page, "act.table"))
    await page.keyboard.press("/")
    await page.keyboard.type("act.table")
    await page.keyboard.press("Enter")
    await expectShown(page.getByRole("heading", { level: 1, name: "List people" }))
    await tabTo(page, "Run")
    await page.keyboard.press("Enter")
    await expectShown(result(page).getByText("Ada"))
  })

  test("a wrong input is put right", async () => {
    const { page } = await site.show()
    await expectShown(listed(page, "act.compose"))
    await go(page, "input.numbers", "Echo: numbers")
    // The palette leads to the first field.
    await page.locator('input:focus[id$="count"]').waitFor()
    await page.getByRole("tab", { name: "Try" }).focus()
    await page.keyboard.press("Control+Enter")
    await page.locator('input:focus[aria-invalid="true"]').waitFor()
    await page.keyboard.type("4")
    await page.keyboard.press("Control+Enter")
    await expectShown(result(page).getByText("got"))
  })

  test("a question is answered", async () => {
    const { page } = await site.show()
    await expectShown(listed(page, "act.table"))
    await go(page, "act.ask", "Ask")
    await page.locator("main textarea:focus").waitFor()
    await page.keyboard.press("Control+Enter")
    await page.getByRole("region", { name: /^The operation asks/ }).waitFor()
    // The question leads to its first field.
    await page
      .getByRole("textbox", { name: /^Your name/ })
      .and(page.locator(":focus"))
      .waitFor()
    await page.keyboard.type("Ada")
    await page.keyboard.press("Control+Enter")
    await expectShown(result(page).getByText('"Ada"'))
  })

  test("a failing call is traced to its cause", async () => {
    await site.hub.registry.execute("act.compose", {})
    const { page } = await site.show()
    await expectShown(listed(page, "act.table"))
    await go(page, "Calls", "Calls")
    await page.getByRole("row").filter({ hasText: "SOLD_OUT" }).first().waitFor()
    await tabTo(page, /^act\.compose/)
    const failed = page.locator(':focus[role="row"]', { hasText: "SOLD_OUT" })
    for (let step = 0; step < 10 && (await failed.count()) === 0; step++) {
      await page.keyboard.press("ArrowDown")
    }
    await page.keyboard.press("Enter")
    await expectShown(page.getByRole("dialog").getByText('Nothing is left of "mug".'))
  })

  test("a request is shared", async () => {
    const { page } = await site.show("/o/input.text")
    await page.getByLabel(/^name/).waitFor()
    await tabTo(page, /^name/)
    await page.keyboard.type("Ada")
    await page.keyboard.press("Shift+Tab")
    for (let step = 0; step < 20; step++) {
      if ((await page.locator(":focus").textContent()) === "Copy link") break
      await page.keyboard.press("Shift+Tab")
    }
    await page.keyboard.press("Enter")
    await expectShown(page.getByText("Copied"))
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(decodeURIComponent(link)).toContain('input={"name":"Ada"}')
  })

  test("it is seen why a source is down, and it is tried again", async () => {
    const { page } = await site.show()
    await expectShown(listed(page, "act.table"))
    await go(page, "Sources", "Sources")
    const card = page.getByRole("article", { name: "Source missing" })
    await expectShown(card.getByText(/nowhere\.json/))
    const again = page.waitForResponse(/reopen$/)
    await tabTo(page, "Retry now")
    await page.keyboard.press("Enter")
    await again
  })

  test("two results are compared", async () => {
    const { page } = await site.show("/o/act.count")
    await page.getByRole("button", { name: "Run", exact: true }).waitFor()
    await tabTo(page, "Run")
    await page.keyboard.press("Enter")
    await expectShown(result(page).getByText("200", { exact: true }))
    await page.keyboard.press("Enter")
    // Until then the first result is replaced, and with it what has the focus in it.
    await page.getByRole("tab", { name: "Compare" }).waitFor()
    await tabTo(page, "Data")
    await page.keyboard.press("End")
    await expectShown(page.locator("table.diff").getByText("/calls"))
  })

  test("a place deep in a schema is found and opened", async () => {
    const { page } = await site.show("/o/tree.depth?tab=schema")
    await page.getByRole("tree", { name: "Input" }).waitFor()
    await tabTo(page, "Search in Input")
    await page.keyboard.type("label")
    const tree = page.getByRole("tree", { name: "Input" })
    await expectShown(page.getByText("1 match", { exact: true }))
    expect(await tree.getByRole("treeitem").count()).toBe(2)
    await page.keyboard.press("Tab")
    await page.keyboard.press("End")
    const active = await tree.getAttribute("aria-activedescendant")
    expect(await page.locator(`[id="${active}"]`).textContent()).toContain("label")
  })
})
