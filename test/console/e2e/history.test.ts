import { describe, expect, test } from "vitest"
import { button, expectShown, field, listed, run, storedText, tab } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

describe.skipIf(noBrowser)("the history", () => {
  const site = useConsole(() => [fixtures.operations])

  test("keeps calls over a reload, runs one again and compares two results", async () => {
    const { page, faults, violations } = await site.open("/o/act.count")
    const first = (await run(page)).body.data as { calls: number }
    const second = (await run(page)).body.data as { calls: number }
    expect(second.calls).toBe(first.calls + 1)
    await page.reload()
    await page.getByRole("link", { name: "History" }).click()
    await expectShown(page.getByRole("heading", { level: 1, name: "History" }))
    const main = page.getByRole("main")
    await expect.poll(() => main.getByText("act.count").count()).toBeGreaterThanOrEqual(2)

    const boxes = main.getByRole("checkbox", { name: /compare/i })
    await boxes.nth(0).check()
    await boxes.nth(1).check()
    const difference = page.getByRole("region", { name: "Comparison" })
    await expectShown(difference.getByText(String(first.calls)))
    await expectShown(difference.getByText(String(second.calls)))

    await button(main, "Open with this input").first().click()
    await page.waitForURL(/#\/o\/act\.count/)
    expect([...faults, ...violations]).toEqual([])
  })

  test("an input of before is run again, and its result compared with the one at hand", async () => {
    const { page } = await site.open("/o/act.count")
    const first = (await run(page)).body.data as { calls: number }
    await run(page)
    await page.getByText(/^Earlier calls/).click()
    const { body } = await run(page, button(page, /again/i).last())
    expect(body).toMatchObject({ data: { calls: first.calls + 2 } })
    await expectShown(page.getByRole("region", { name: "Result" }).getByText("calls"))
    await tab(page, "Compare").click()
    const difference = page.getByRole("main").locator("table").filter({ hasText: "/calls" })
    await expectShown(difference.getByText(String(first.calls + 1), { exact: true }))
    await expectShown(difference.getByText(String(first.calls + 2), { exact: true }))
  })

  test("never keeps what looks secret", async () => {
    const { page } = await site.show("/o/input.secret")
    await field(page, "user").fill("ada")
    await field(page, "password").fill("canary-5f1e")
    expect((await run(page)).body.data).toEqual({ got: { user: "ada", password: "canary-5f1e" } })
    await expect.poll(() => storedText(page)).toContain("ada")
    expect(await storedText(page)).not.toContain("canary-5f1e")
  })

  test("stands a storage that holds nonsense", async () => {
    const { page, faults } = await site.show()
    await expectShown(listed(page, "act.count"))
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage)) localStorage.setItem(key, `{"broken": [`)
    })
    await page.goto(`${site.url}/#/history`)
    await page.reload()
    await expectShown(page.getByRole("heading", { level: 1, name: "History" }))
    expect(faults).toEqual([])
  })
})
