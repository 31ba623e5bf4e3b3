import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { serveHTTP } from "../../../src/node.ts"
import type { ServedHTTP } from "../../../src/node.ts"
import { count, greet, quietRegistry } from "../../support/operations.ts"
import { builtConsole } from "./support/build.ts"
import { launch, openPage } from "./support/browser.ts"
import { expectQuiet, expectShown, field, listed, result, run, search } from "./support/page.ts"
import { chromiumPath, noBrowser } from "./support/site.ts"

describe.skipIf(noBrowser)("the console of one registry", () => {
  let served: ServedHTTP
  let browser: Browser

  beforeAll(async () => {
    served = await serveHTTP(quietRegistry([greet, count]), {
      port: 0,
      title: "Greetings",
      console: await builtConsole(),
      drainMs: 100,
    })
    browser = await launch(chromiumPath as string)
  }, 180_000)

  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })

  test("finds an operation, runs it, and shows its result and its call", async () => {
    const opened = await openPage(browser, `${served.url}/`)
    const { page } = opened
    await expectShown(page.getByRole("heading", { level: 1, name: "Greetings" }))
    await search(page).fill("greets a person")
    await listed(page, "demo.greet").click()
    await field(page, "name").fill("Ada")
    expect(await run(page)).toMatchObject({ status: 200, body: { data: { text: "Hello, Ada" } } })
    await expectShown(result(page).getByText("Hello, Ada"))
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    await expectShown(page.getByLabel("Calls", { exact: true }).getByText("demo.greet"))
    await page.getByRole("link", { name: "Sources", exact: true }).click()
    await expectShown(page.getByText("A program that serves its own registry has none."))
    await expectQuiet(opened, served.url)
  })
})
