import { describe, expect, test } from "vitest"
import { button, expectShown, tabTo } from "./support/page.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

describe.skipIf(noBrowser)("resources and prompts", () => {
  const site = useConsole(() => [fixtures.served])

  test("are listed and filtered, fit on a narrow screen, and axe finds nothing", async () => {
    const { page, violations, faults } = await site.show("/")
    await page.getByRole("link", { name: "Resources", exact: true }).click()
    await expectShown(page.getByRole("heading", { level: 1, name: "Resources and prompts" }))
    const resources = page.getByRole("region", { name: "Resources" })
    await expect.poll(() => resources.getByRole("listitem").count()).toBe(3)
    await button(page, "note://{number}").click()
    await expectShown(page.getByLabel("number"))
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await axeFindings(page)).toEqual([])
        const screenshots = process.env["SCREENSHOTS"]
        if (screenshots !== undefined) {
          await page.screenshot({ path: `${screenshots}/resources-${width}-${colorScheme}.png` })
        }
      }
      const isWide = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth > clientWidth
      })
      expect(isWide).toBe(false)
      const toggle = page.locator(".served-toggle").first()
      await toggle.locator("code").evaluate((it) => it.replaceChildren("n".repeat(60)))
      const [icon, address] = await Promise.all(
        [toggle.locator("svg"), toggle.locator("code")].map((part) => part.boundingBox()),
      )
      expect(address?.y).toBeLessThan((icon?.y ?? 0) + (icon?.height ?? 0) / 2)
    }
    await page.getByLabel("Filter", { exact: true }).fill("letter")
    await expectShown(page.getByRole("region", { name: "Prompts" }))
    expect(await resources.count()).toBe(0)
    expect([...violations, ...faults]).toEqual([])
  })

  test("a resource is read, and its content is shown by its media type", async () => {
    const { page, violations } = await site.show("/resources")
    await button(page, "picture://pixel").click()
    await button(page, "Read").click()
    const picture = page.getByRole("img", { name: "Result 1, image/png" })
    await expectShown(picture)
    await button(page, "picture://pixel").click()
    await button(page, "ui://panel").click()
    await button(page, "Read").click()
    const app = page.frameLocator("iframe[title=Page]")
    await expectShown(app.getByRole("heading", { name: "Panel" }))
    // Nothing in it runs.
    expect(await page.title()).not.toBe("taken")
    expect(violations.filter((one) => !one.includes("about:srcdoc"))).toEqual([])
  })

  test("a template and a prompt are filled in with the keyboard alone, with the values of the server", async () => {
    const { page } = await site.show("/resources")
    await expectShown(page.getByRole("heading", { level: 1, name: "Resources and prompts" }))
    await tabTo(page, "note://{number}")
    await page.keyboard.press("Enter")
    await expectShown(page.getByLabel("number", { exact: true }))
    await tabTo(page, "number")
    await page.keyboard.type("7")
    await page.keyboard.press("Enter")
    await expectShown(page.getByText('"Note 7"'))
    await tabTo(page, "served.letter")
    await page.keyboard.press("Enter")
    await expectShown(page.getByLabel("to", { exact: true }))
    await tabTo(page, "to")
    await page.keyboard.type("Ada")
    await page.keyboard.press("Tab")
    await page.keyboard.type("B")
    const offered = page.locator("input:focus ~ datalist option")
    await expect.poll(() => offered.allTextContents()).toEqual(["Berlin", "Bonn"])
    await page.keyboard.type("onn")
    await page.keyboard.press("Enter")
    await expectShown(page.getByText("Write to Ada in Bonn."))
    await expectShown(page.getByText("assistant:"))
  })
})

describe.skipIf(noBrowser)("a hub without resources", () => {
  const site = useConsole(() => [fixtures.operations])

  test("has no link to them", async () => {
    const { page } = await site.show("/")
    await expectShown(page.getByRole("link", { name: "History", exact: true }))
    expect(await page.getByRole("link", { name: "Resources", exact: true }).count()).toBe(0)
  })
})
