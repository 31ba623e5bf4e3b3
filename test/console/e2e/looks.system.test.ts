import { describe, expect, test } from "vitest"
import type { Locator, Page } from "playwright-core"
import { button, expectShown, listed, openOperation, run } from "./support/page.ts"
import { search, tab, way } from "./support/page.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const sources = [fixtures.operations, fixtures.api, fixtures.media, fixtures.missing]

/** The main views, and what is done there before it is looked at: one after the other in the same page. */
const VIEWS: readonly (readonly [
  name: string,
  path: string,
  prepare: (page: Page) => Promise<unknown>,
])[] = [
  ["find", "/", (page) => listed(page, "act.table").first().waitFor()],
  ["history", "/history", (page) => page.getByText(/^No calls/).waitFor()],
  ["search", "/", searchList],
  ["palette", "/", openPalette],
  ["keys", "/", openHelp],
  ["form", "/o/input.union", (page) => way(page, "Form").waitFor()],
  ["form with a fault", "/o/input.numbers", runWrong],
  ["JSON", "/o/input.nested", openJson],
  ["details", "/o/media.blocks", (page) => button(page, "Details").click()],
  ["schema", "/o/tree.depth", (page) => tab(page, "Schema").click()],
  ["search in a schema", "/o/tree.depth?tab=schema", searchSchema],
  ["snippets", "/o/library.getBook", (page) => tab(page, "Snippets").click()],
  ["table", "/o/act.table", run],
  ["error", "/o/act.fail", run],
  ["text", "/o/act.note", run],
  ["content", "/o/media.blocks", run],
  ["comparison", "/o/act.count", compare],
  ["watch", "/o/live.numbers", watchSome],
  ["calls", "/calls", (page) => page.getByRole("heading", { level: 1 }).waitFor()],
  ["sources", "/sources", (page) => page.getByText("library").first().waitFor()],
  ["details of a source", "/sources", openSource],
  ["import report", "/sources", openReport],
  ["history with calls", "/o/act.count", openHistory],
  ["unknown operation", "/o/act.tabel", (page) => page.getByText(/Did you mean/).waitFor()],
  // Stays open.
  ["filters", "/", (page) => button(page, "Filters").click()],
]

/** The list with nothing chosen, with one of its operations, and with its filters. */
const LIST_VIEWS = ["find", "search", "form", "filters"]

async function searchList(page: Page): Promise<void> {
  await search(page).fill("books")
  await page.locator(".find-what mark").first().waitFor()
}

async function openPalette(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.keyboard.press("Control+K")
  await page.getByRole("combobox", { name: "Search everything" }).fill("book")
  await page.getByRole("option").filter({ hasText: "GET /books/{isbn}" }).waitFor()
}

async function openHelp(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor()
  await button(page, "Keys").click()
  await page.getByRole("dialog").waitFor()
}

async function searchSchema(page: Page): Promise<void> {
  await page.getByLabel("Search in Input").fill("label")
  await page.getByText("1 match", { exact: true }).waitFor()
}

async function compare(page: Page): Promise<void> {
  await run(page)
  await run(page)
  await tab(page, "Compare").click()
  await page.locator("table.diff").waitFor()
}

async function openHistory(page: Page): Promise<void> {
  await run(page)
  await run(page)
  await page.getByRole("link", { name: "History", exact: true }).click()
  const boxes = page.getByRole("checkbox", { name: /^Compare/ })
  await boxes.nth(0).check()
  await boxes.nth(1).check()
  await button(page, "Show").first().click()
}

async function openSource(page: Page): Promise<void> {
  await button(page.getByRole("article", { name: "Source library" }), "Details").click()
}

async function openReport(page: Page): Promise<void> {
  await button(page.getByRole("article", { name: "Source library" }), "Import report").click()
  await page.getByRole("article", { name: "Source library" }).getByText("kept").first().waitFor()
}

async function runWrong(page: Page): Promise<void> {
  await button(page, "Run").click()
  await button(page, "Send anyway").click()
  await page.getByText("VALIDATION_ERROR").first().waitFor()
}

async function openJson(page: Page): Promise<void> {
  await way(page, "JSON").click()
  await page.getByLabel("Input as JSON").waitFor()
}

async function watchSome(page: Page): Promise<void> {
  await button(page, /^Start/).click()
  await page.getByRole("figure").getByRole("img").waitFor()
  await button(page, "Stop").click()
}

function background(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor)
}

/** How much wider than its screen a page is. */
function overhang(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return Math.max(0, scrollWidth - clientWidth)
  })
}

describe.skipIf(noBrowser)("how it looks", () => {
  const site = useConsole(() => sources)

  test.for(VIEWS)("%s has nothing that axe finds, and fits on a narrow screen", async (view) => {
    const [name, path, prepare] = view
    const { page, violations, faults } = await site.show(path)
    await prepare(page)
    const colorsOf = LIST_VIEWS.includes(name) ? "whole page" : "all but the list"
    expect(await axeFindings(page, colorsOf)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(() => overhang(page)).toBe(0)
    // What was opened over the view.
    await page.keyboard.press("Escape")
    expect(violations).toEqual([])
    expect(faults.filter((fault) => !fault.startsWith("Failed to load resource"))).toEqual([])
  })

  test("follows the system's light and dark, and a choice of one's own", async () => {
    const { page } = await site.open()
    await expectShown(listed(page, "act.table"))
    const light = await background(page)
    await page.emulateMedia({ colorScheme: "dark" })
    await expect.poll(() => background(page)).not.toBe(light)
    // From "system" to "light", which stays.
    await button(page, /^Theme/).click()
    await expect.poll(() => background(page)).toBe(light)
    await page.reload()
    await expect.poll(() => background(page)).toBe(light)
  })

  test("an operation is found, tried and left on a phone", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
    const { page } = await site.open("/", phone)
    await search(page).fill("act.table")
    await listed(page, "act.table").tap()
    await expectShown(page.getByRole("heading", { level: 1, name: "List people" }))
    await run(page)
    await expectShown(page.getByRole("region", { name: "Result" }).getByText("Ada"))
    await page.getByRole("link", { name: "Back to the operations" }).tap()
    await expectShown(listed(page, "act.table"))
  })

  test("what the hub is, and what is wrong with it, is a tap away on a phone", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
    const { page } = await site.open("/", phone)
    await page.getByRole("link", { name: "About this hub" }).tap()
    await expectShown(page.getByRole("heading", { level: 1, name: "Test hub" }))
    await expectShown(page.getByRole("heading", { name: "Use it from" }))
    const sourceList = page.getByRole("region", { name: "Sources" })
    const first = sourceList.getByRole("listitem").first()
    await expectShown(first.getByText("missing", { exact: true }))
    await expectShown(first.getByText("failed"))
    expect(await overhang(page)).toBe(0)
    expect(await axeFindings(page)).toEqual([])
  })

  test("the title of the hub is whole or left out in the bar, whatever the width", async () => {
    const { page } = await site.show("/calls")
    const title = page.locator(".top-title span")
    await title.waitFor({ state: "attached" })
    for (const width of [1280, 961, 960, 768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const hidden = (): Promise<number> =>
        title.evaluate((it) => (it.clientWidth <= 1 ? 0 : it.scrollWidth - it.clientWidth))
      await expect.poll(async () => [width, await hidden()]).toEqual([width, 0])
    }
    expect(await page.getByRole("link", { name: "Test hub", exact: true }).count()).toBe(1)
  })

  test("codes of errors are whole, and figures in a line, on a tablet; codes on a phone, too", async () => {
    const { page } = await site.show("/o/input.numbers")
    await runWrong(page)
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    const code = page.getByRole("row").getByText("VALIDATION_ERROR").first()
    await code.waitFor()
    const hidden = (): Promise<number> => code.evaluate((it) => it.scrollWidth - it.clientWidth)
    await page.setViewportSize({ width: 768, height: 900 })
    await expect.poll(hidden).toBe(0)
    const figures = page.locator(".counter-list > div")
    const tops = await figures.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().y))
    expect(new Set(tops).size).toBe(1)
    await page.setViewportSize({ width: 390, height: 900 })
    await expect.poll(hidden).toBe(0)
    // None of the percentiles is alone on its line.
    const rows = await figures.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().y))
    expect(rows.at(-1)).toBe(rows.at(-2))
  })

  test("names of columns are whole words where the values are long", async () => {
    const { page } = await site.show("/o/act.count")
    await run(page)
    await openOperation(page, "act.table")
    await run(page)
    await page.getByRole("link", { name: "History", exact: true }).click()
    for (const id of ["act.table", "act.count"]) {
      await page
        .getByLabel(new RegExp(`^Compare ${id}`))
        .first()
        .check()
    }
    const names = page.locator("table.diff").last().locator("th")
    await names.first().waitFor()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const heights = await names.evaluateAll((all) => all.map((it) => it.clientHeight))
      expect(Math.max(...heights)).toBeLessThan(40)
    }
  })

  test("keys are whole in the help, and what a failed call was in the history, on a phone", async () => {
    const { page } = await site.show("/o/act.fail")
    await run(page)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.keyboard.press("?")
    const keys = page.getByRole("dialog").locator("kbd")
    await keys.first().waitFor()
    const heights = await keys.evaluateAll((all) => all.map((it) => it.clientHeight))
    expect(Math.max(...heights)).toBeLessThan(30)
    await page.keyboard.press("Escape")
    await page.getByRole("link", { name: "History", exact: true }).click()
    const facts = page.locator(".entry-facts").first().locator("> *")
    await facts.first().waitFor()
    const ends = await facts.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().right))
    expect(Math.max(...ends)).toBeLessThanOrEqual(390)
  })

  test("the start page counts what is there, and suggests a query of each source before a change", async () => {
    const { page } = await site.show()
    await expectShown(page.getByText(/^\d+ operations from 3 of 4 sources/))
    const suggested = page.getByRole("region", { name: "Try one" }).getByRole("listitem")
    await expectShown(suggested.filter({ hasText: "Read a book's card" }).getByText("Gives what"))
    expect(await suggested.filter({ hasText: "POST /books" }).count()).toBe(0)
    expect(await suggested.count()).toBe(3)
  })

  test("each kind of source has an icon of its own", async () => {
    const { page } = await site.show()
    await expectShown(listed(page, "act.table"))
    const kinds = (icons: Locator): Promise<number> =>
      icons.evaluateAll((all) => new Set(all.map((it) => it.getAttribute("d"))).size)
    const sourceList = page.getByRole("region", { name: "Sources" })
    await expect.poll(() => kinds(sourceList.locator("li .icon path"))).toBe(3)
    // Of the folders in sight: a document and modules.
    await expect.poll(() => kinds(page.locator(".is-source .find-kind path"))).toBe(2)
  })

  test("the focus moves to the heading of what was opened", async () => {
    const { page } = await site.show()
    await page.getByRole("link", { name: "Sources", exact: true }).click()
    await expectShown(page.getByRole("heading", { level: 1, name: "Sources" }))
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1")
  })

  test("who tabs always sees where the focus is", async () => {
    const { page } = await site.show("/o/input.text")
    await button(page, "Run").waitFor()
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press("Tab")
      await expect.poll(() => page.evaluate(bareFocus)).toBe("")
    }
  })
})

describe.skipIf(noBrowser)("a hub without operations", () => {
  const site = useConsole(() => [])

  test.for(["/", "/calls", "/sources"])(
    "says what to do at %s, with nothing that axe finds",
    async (path) => {
      const { page, faults } = await site.show(path)
      await expectShown(page.getByText(/^No (?:operations|calls|sources)/))
      expect(await axeFindings(page, "whole page")).toEqual([])
      expect(faults).toEqual([])
    },
  )
})

/** What has the focus and does not show it; runs in the page. */
function bareFocus(): string {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  if (element === null || element === document.body) return ""
  // An editor shows a ring around all of it.
  const shown = element.closest(".cm-editor") ?? element
  const { outlineStyle, boxShadow } = getComputedStyle(shown)
  return outlineStyle === "none" && boxShadow === "none" ? shown.outerHTML.slice(0, 120) : ""
}
