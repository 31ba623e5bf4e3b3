import { describe, expect, onTestFinished, test } from "vitest"
import { button, expectQuiet, expectShown, listed, result, run } from "./support/page.ts"
import { fixtures, startHub } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const site = useConsole(() => [fixtures.operations], { basePath: "/tools/v1" })

describe.skipIf(noBrowser)("a hub under a path of its own", () => {
  test("has its console there, and asks for nothing outside of it", async () => {
    expect(site.url).toMatch(/\/tools\/v1$/)
    const opened = await site.open("/o/act.table")
    await run(opened.page)
    await expectShown(result(opened.page).getByText("Ada"))
    expect(opened.requests.filter((to) => !to.startsWith(`${site.url}/`))).toEqual([])
    await expectQuiet(opened, site.url)
  })

  test("is reached without the slash at the end, too", async () => {
    const { page } = await site.show()
    await page.goto(site.url)
    await expectShown(listed(page, "act.table"))
  })
})

describe.skipIf(noBrowser)("a hub that goes away", () => {
  test("is said to be gone, and what was typed stays", async () => {
    const other = await startHub([fixtures.operations])
    onTestFinished(() => other[Symbol.asyncDispose]())
    const { page } = await site.open()
    await page.goto(`${other.url}/#/o/input.text`)
    const name = page.getByRole("main").getByLabel(/^name/)
    await name.fill("Ada")
    await other[Symbol.asyncDispose]()
    await button(page, "Run").click()
    await expectShown(result(page).getByText("no response"))
    await expectShown(page.getByText("No connection"))
    expect(await name.inputValue()).toBe("Ada")
  })
})
