import { afterAll, describe, expect, test } from "vitest"
import { serve } from "../../http-client/server.ts"
import { sourceOf } from "../../hub/plain.ts"
import { button, expectShown, openOperation, run } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const api = await serve((_, response) => void response.end("{}"))
afterAll(() => api[Symbol.asyncDispose]())

const library = sourceOf("library", { ...fixtures.api.config, baseUrl: api.url })
const sources = [fixtures.operations, library, fixtures.missing]

describe.skipIf(noBrowser)("seeing what happens", () => {
  const site = useConsole(() => sources)

  test("shows a call that happens while the page connects", async () => {
    const { page } = await site.open("/")
    let connect = (): void => {}
    const connected = new Promise<void>((resolve) => (connect = resolve))
    await page.route("**/hub/events", async (route) => {
      await connected
      await route.continue()
    })
    const remembered = page.waitForResponse(/hub\/stats/)
    await page.getByRole("link", { name: "Calls" }).click()
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
    await page.getByRole("link", { name: "Calls" }).click()
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
    await page.getByRole("link", { name: "Calls" }).click()
    await expectShown(page.getByLabel("Calls", { exact: true }).getByText("act.table"))
  })
})
