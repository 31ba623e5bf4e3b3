import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { button, expectShown, tab } from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const sources = [fixtures.operations, fixtures.api]

describe.skipIf(noBrowser)("reading an operation", () => {
  const site = useConsole(() => sources)

  test("shows input and output as a tree, with what is required and allowed", async () => {
    const { page } = await site.show("/o/library.getBook")
    await tab(page, "Schema").click()
    const main = page.getByRole("main")
    await expectShown(main.getByText("isbn"))
    expect(await main.getByText(/required/i).count()).toBeGreaterThan(0)
    await expectShown(main.getByText("title"))
    await expectShown(main.getByText("sequel"))
  })

  test("a schema that contains itself is opened level by level", async () => {
    const { page } = await site.show("/o/tree.depth")
    await tab(page, "Schema").click()
    const tree = page.getByRole("tree", { name: "Input" })
    await expectShown(tree.getByText("children"))
    for (let level = 0; level < 3; level++) {
      const before = await tree.getByText("children").count()
      // The deepest: each time that it is opened there is one more below it.
      for (
        let step = 0;
        step < 5 && (await tree.getByText("children").count()) === before;
        step++
      ) {
        await tree.locator('[aria-expanded="false"]').last().click()
      }
      expect(await tree.getByText("children").count()).toBeGreaterThan(before)
    }
  })

  test("shows declared errors and who may call", async () => {
    const { page } = await site.show("/o/act.fail")
    await tab(page, "Schema").click()
    await expectShown(page.getByRole("main").getByText("SOLD_OUT"))
    await expectShown(page.getByRole("main").getByText("Nothing is left of it"))
  })

  test("the curl snippet works as it is written", async () => {
    const { page } = await site.show("/o/act.table")
    await tab(page, "Snippets").click()
    const text = await page
      .locator("pre")
      .filter({ hasText: /^\s*curl/ })
      .first()
      .textContent()
    const { stdout } = await promisify(execFile)("sh", ["-c", text ?? "false"])
    expect(stdout).toContain("Ada")
  })

  test("Markdown of a description is shown as such", async () => {
    const { page } = await site.show("/o/input.text")
    await button(page, "Details").click()
    await expectShown(page.getByRole("main").locator("strong", { hasText: "text" }))
  })
})
