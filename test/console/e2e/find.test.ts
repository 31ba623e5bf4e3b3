import { describe, expect, test } from "vitest"
import { button, expectShown, listed, openOperation, search } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"
import { waitFor } from "../../support/wait-for.ts"

const sources = [fixtures.operations, fixtures.api]

describe.skipIf(noBrowser)("finding an operation", () => {
  const site = useConsole(() => sources)

  test("lists every operation, and narrows the list as one types", async () => {
    const { page, faults } = await site.open()
    await expectShown(listed(page, "act.compose"))

    await search(page).fill("numbers")
    await expectShown(listed(page, "live.numbers"))
    await waitFor(async () => expect(await listed(page, "act.compose").count()).toBe(0))

    await search(page).fill("zzzz-nothing-is-called-so")
    await expectShown(page.getByText(/no operation|nothing/i))
    expect(faults).toEqual([])
  })

  test("is done with the keyboard alone: slash, words, arrows, Enter", async () => {
    const { page } = await site.open()
    await expectShown(listed(page, "act.compose"))
    await page.keyboard.press("/")
    await page.keyboard.type("live.")
    await expectShown(listed(page, "live.breaks"))
    await waitFor(async () => expect(await listed(page, "act.compose").count()).toBe(0))
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await page.waitForURL(/#\/o\/live\./)
    await expectShown(page.getByRole("heading", { level: 1 }))
  })

  test("finds by words of the title and the description, not by the id alone", async () => {
    const { page } = await site.open()
    await search(page).fill("book's card")
    await expectShown(listed(page, "library.getBook"))
    await search(page).fill("rows that fit")
    await expectShown(listed(page, "act.table"))
  })

  test("a link leads to an operation, also in a new tab and after a reload", async () => {
    const { page } = await site.open("/o/act.table")
    await expectShown(page.getByRole("heading", { level: 1, name: "List people" }))
    await page.reload()
    await expectShown(page.getByRole("heading", { level: 1, name: "List people" }))
    await openOperation(page, "act.fail")
    await expectShown(page.getByRole("heading", { level: 1, name: "Sell out" }))
    await page.goBack()
    await expectShown(page.getByRole("heading", { level: 1, name: "List people" }))
  })

  test("a link to an unknown operation says so, and suggests a similar one", async () => {
    const { page } = await site.open("/o/act.tabel")
    await expectShown(page.getByText(/act\.tabel/))
    await expectShown(page.getByText(/Did you mean|not registered|no operation/i))
  })

  test("shows type, source, origin and deprecation of an operation", async () => {
    const { page } = await site.open("/o/library.addBook")
    const main = page.getByRole("main")
    await expectShown(main.getByText("mutation"))
    await expectShown(main.getByText(/deprecated/i))
    await expectShown(main.getByText(/library/))
    await expectShown(main.getByText(/\/books/))
  })

  test("shows help for the keys", async () => {
    const { page } = await site.open()
    await expectShown(listed(page, "act.compose"))
    await page.keyboard.press("?")
    const dialog = page.getByRole("dialog")
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "hidden" })
  })

  test("snippets are copied as they are shown", async () => {
    const { page } = await site.open("/o/act.table")
    await page.getByRole("tab", { name: "Snippets" }).click()
    await expectShown(page.getByText("curl", { exact: false }))
    await button(page, /^Copy/).last().click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied.length).toBeGreaterThan(5)
  })
})
