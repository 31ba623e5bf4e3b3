import type { Locator, Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { button, expectShown, listed, openOperation, search } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"
import { waitFor } from "../../support/wait-for.ts"

const site = useConsole(() => [fixtures.operations, fixtures.api])

describe.skipIf(noBrowser)("finding an operation", () => {
  test("lists every operation, and narrows the list as one types", async () => {
    const { page, faults } = await site.open()
    await expectShown(listed(page, "act.compose"))

    await search(page).fill("numbers")
    await expectShown(listed(page, "live.numbers"))
    await waitFor(async () => expect(await listed(page, "act.compose").count()).toBe(0))

    await search(page).fill("zzzz xyzzy")
    await expectShown(page.getByText("Nothing found"))
    expect(faults).toEqual([])
  })

  test("is done with the keyboard alone: slash, words, arrows, Enter", async () => {
    const page = await showAll()
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
    const { page } = await site.show()
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
    const { page } = await site.show("/o/act.tabel")
    await expectShown(page.getByText(/act\.tabel/))
    await expectShown(page.getByText(/Did you mean|not registered|no operation/i))
  })

  test("shows type, source, origin and deprecation of an operation", async () => {
    const { page } = await site.show("/o/library.addBook")
    const main = page.getByRole("main")
    await expectShown(main.getByText("mutation"))
    await expectShown(main.getByText(/deprecated/i))
    await expectShown(main.getByText(/library/))
    await expectShown(main.getByText(/\/books/))
  })

  test("shows help for the keys", async () => {
    const page = await showAll()
    await expectShown(listed(page, "act.compose"))
    await page.keyboard.press("?")
    const dialog = page.getByRole("dialog")
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "hidden" })
  })

  test("snippets are copied as they are shown", async () => {
    const { page } = await site.show("/o/act.table")
    await page.getByRole("tab", { name: "Snippets" }).click()
    await expectShown(page.getByText("curl", { exact: false }))
    await button(page, /^Copy/).last().click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied.length).toBeGreaterThan(5)
  })

  test("finds by path and method, and opens what was typed although the answer is late", async () => {
    const page = await showAll()
    await expectShown(listed(page, "act.compose"))
    await search(page).fill("/books/978")
    await expectShown(listed(page, "library.getBook"))
    await page.route("**/hub/search*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    await search(page).fill("post /books")
    await page.keyboard.press("Enter")
    await page.waitForURL(/#\/o\/library\.addBook/)
  })

  test("says why a search fails, and shows the tree again without a query", async () => {
    const { page } = await site.open()
    await expectShown(listed(page, "act.compose"))
    await page.route("**/hub/search*", (route) => route.abort())
    await search(page).fill("book")
    await expectShown(page.getByText("UNAVAILABLE"))
    await search(page).fill("")
    await expectShown(listed(page, "act.compose"))
  })

  test("has a tree by source and tag, whose folders the keyboard closes and opens", async () => {
    const { page } = await site.open()
    const folder = page.getByRole("treeitem", { name: /^library/ })
    await expectShown(folder)
    await expectShown(page.getByRole("treeitem", { name: /^books/ }))
    await page.getByRole("tree").focus()
    await page.keyboard.press("ArrowDown")
    await expect.poll(() => folder.getAttribute("aria-selected")).toBe("true")
    await page.keyboard.press("ArrowLeft")
    await waitFor(async () => expect(await listed(page, "library.getBook").count()).toBe(0))
    await page.keyboard.press("ArrowRight")
    await expectShown(listed(page, "library.getBook"))
  })

  test("filters the list by source, type, access and deprecation, also of a search", async () => {
    const { page } = await site.open()
    await expectShown(listed(page, "act.compose"))
    await button(page, "Filters").click()
    await page.getByLabel("Source", { exact: true }).selectOption("library")
    await waitFor(async () => expect(await listed(page, "act.compose").count()).toBe(0))
    await page.getByLabel("Deprecation").selectOption("hide")
    await waitFor(async () => expect(await listed(page, "library.addBook").count()).toBe(0))
    await search(page).fill("book")
    await expectShown(listed(page, "library.getBook"))
    expect(await listed(page, "library.addBook").count()).toBe(0)
    await page.getByLabel("Type", { exact: true }).selectOption("subscription")
    await button(page, "Clear the filters").click()
    await expectShown(listed(page, "library.addBook"))
  })

  test("keeps filters in the address: after a reload, in another page, and with the step back", async () => {
    const { page } = await site.open()
    await button(page, "Filters").click()
    await page.getByLabel("Source", { exact: true }).selectOption("library")
    await page.getByLabel("Deprecation").selectOption("hide")
    await page.waitForURL(/\?source=library&deprecated=hide#/)
    await listed(page, "library.getBook").click()
    await page.waitForURL(/\?source=library&deprecated=hide#\/o\/library\.getBook/)
    await page.reload()
    await expectShown(button(page, "Filters: 2 set"))
    await expectShown(listed(page, "library.getBook"))
    expect(await listed(page, "act.compose").count()).toBe(0)

    const other = await page.context().newPage()
    await other.goto(page.url())
    await expectShown(button(other, "Filters: 2 set"))
    await button(other, "Clear filters").click()
    await expectShown(listed(other, "act.compose"))
    expect(new URL(other.url()).search).toBe("")

    await listed(other, "act.compose").click()
    await other.waitForURL(/#\/o\/act\.compose/)
    await button(other, "Filters").click()
    await other.getByLabel("Source", { exact: true }).selectOption("library")
    await other.goBack()
    await expectShown(listed(other, "act.compose"))
    expect(await button(other, "Filters: 1 set").count()).toBe(0)
  })

  test("ignores filters in an address that are none", async () => {
    const { page } = await site.show()
    const bad = `?type=evil&access=%00&deprecated=&source=${"x".repeat(300)}&__proto__=1`
    await page.goto(`${site.url}/${bad}#/`)
    await expectShown(listed(page, "act.compose"))
    await expectShown(button(page, "Filters"))
    await page.goto(`${site.url}/?source=%3Cimg%20src%3Dx%3E#/`)
    await expectShown(button(page, "Filters: 1 set"))
    await button(page, "Clear the filters").click()
    await expectShown(listed(page, "act.compose"))
  })

  test("keeps favourites and recent operations in this browser", async () => {
    const { page } = await site.open("/o/act.table")
    await button(page, "Favourite").click()
    const folder = page.getByRole("treeitem", { name: /^Favourites/ })
    await expectShown(folder)
    await page.reload()
    await expectShown(folder)
    expect(await listed(page, "act.table").count()).toBe(2)
    await page.getByRole("treeitem", { name: /^Recent/ }).click()
    await waitFor(async () => expect(await listed(page, "act.table").count()).toBe(3))
    await button(page, "Favourite").click()
    await folder.waitFor({ state: "hidden" })
  })

  test("stands favourites that are nonsense", async () => {
    const { page, faults } = await site.show()
    await page.evaluate(() => {
      localStorage.setItem("operations.favourites", '{"0":"__proto__"}')
      sessionStorage.setItem("operations.recent", '["__proto__", 7, "gone.one"]')
    })
    await page.reload()
    await expectShown(listed(page, "act.compose"))
    expect(faults).toEqual([])
  })
})

describe.skipIf(noBrowser)("the palette", () => {
  test("opens an operation by its path, from a text field, with the keyboard alone", async () => {
    const { page, faults } = await site.show("/o/input.text")
    await page.getByRole("main").getByLabel(/^name/).click()
    await page.keyboard.press("Control+K")
    const field = paletteField(page)
    await field.waitFor()
    await page.keyboard.type("GET /books/{isbn}")
    await page.keyboard.press("Enter")
    await expectShown(page.getByRole("heading", { level: 1, name: "Read a book's card" }))
    await field.waitFor({ state: "hidden" })
    expect(faults).toEqual([])
  })

  test("is a combobox with a list of options, of which one is active", async () => {
    const page = await showAll()
    await expectShown(listed(page, "act.compose"))
    await button(page, /^Search everything/).click()
    const field = paletteField(page)
    await expect.poll(() => field.getAttribute("aria-expanded")).toBe("true")
    await field.fill("book")
    const options = page.getByRole("listbox", { name: "Results" }).getByRole("option")
    await expectShown(options.filter({ hasText: "GET /books/{isbn}" }))
    for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp"]) {
      await field.press(key)
      await expect
        .poll(async () => {
          const id = await field.getAttribute("aria-activedescendant")
          return await page.locator(`[id="${id}"]`).getAttribute("aria-selected")
        })
        .toBe("true")
    }
    await field.press("Escape")
    await field.waitFor({ state: "hidden" })
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent))
      .toContain("Search everything")
  })

  test("goes to views, changes the theme, and shows the operations of a source and a tag", async () => {
    const { page } = await site.open()
    await expectShown(listed(page, "act.compose"))
    await choose(page, "histo")
    await expectShown(page.getByRole("heading", { level: 1, name: "History" }))
    await choose(page, "change the theme")
    await expect
      .poll(() => page.evaluate(() => localStorage.getItem("operations.theme")))
      .toBe("light")
    await page.keyboard.press("Control+K")
    await paletteField(page).fill("library")
    await page
      .getByRole("group", { name: "Operations of a source" })
      .getByRole("option", { name: "library" })
      .click()
    await waitFor(async () => expect(await listed(page, "act.compose").count()).toBe(0))
    await choose(page, "clear the filters")
    await expectShown(listed(page, "act.compose"))
    await page.keyboard.press("Control+K")
    await paletteField(page).fill("books")
    await page
      .getByRole("group", { name: "Operations with a tag" })
      .getByRole("option", { name: "books" })
      .click()
    await waitFor(async () => expect(await listed(page, "library.addBook").count()).toBe(0))
  })

  test("begins with recent operations, and closes with the key that opened it", async () => {
    const { page } = await site.open("/o/act.table")
    await expectShown(page.getByRole("heading", { level: 1, name: "List people" }))
    await page.keyboard.press("Control+K")
    const group = page.getByRole("group", { name: "Recent" })
    await expectShown(group.getByRole("option", { name: /List people/ }))
    await page.keyboard.press("Control+K")
    await paletteField(page).waitFor({ state: "hidden" })
    await choose(page, "add to favourites")
    await expectShown(page.getByRole("treeitem", { name: /^Favourites/ }))
  })

  test("says that nothing was found", async () => {
    const { page } = await site.show()
    await expectShown(listed(page, "act.compose"))
    await page.keyboard.press("Control+K")
    await paletteField(page).fill("zzzz xyzzy")
    await expectShown(page.getByText("Nothing found"))
    await page.keyboard.press("Enter")
    await expectShown(paletteField(page))
  })
})

/** The start page, with nothing in the search field. */
async function showAll(): Promise<Page> {
  const { page } = await site.show()
  await search(page).fill("")
  await search(page).blur()
  return page
}

function paletteField(page: Page): Locator {
  return page.getByRole("combobox", { name: "Search everything" })
}

/** Does what the palette offers first for a query. */
async function choose(page: Page, query: string): Promise<void> {
  await page.keyboard.press("Control+K")
  await paletteField(page).fill(query)
  await page.keyboard.press("Enter")
  await paletteField(page).waitFor({ state: "hidden" })
}
