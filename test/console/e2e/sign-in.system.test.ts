import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { hashApiKey } from "../../../src/to-http.ts"
import { button, expectShown, listed, result, run, storedText } from "./support/page.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"
import { waitFor } from "../../support/wait-for.ts"

const KEY = "k-reader-93c1e0a7"
const ADMIN = "k-admin-1b52d8f4"

describe.skipIf(noBrowser)("signing in", () => {
  const site = useConsole(() => [fixtures.operations], {
    apiKeys: [
      { hash: hashApiKey(KEY), id: "reader", scopes: [] },
      { hash: hashApiKey(ADMIN), id: "root", scopes: ["admin", "hub:admin"] },
    ],
  })

  test("is asked for, refuses a wrong key and takes the right one", async () => {
    const { page, violations } = await site.open()
    const main = page.getByRole("main")
    // A page with one form, and nothing that looks like an error.
    await expectShown(main.getByText("Sign in to continue"))
    await expectShown(page.getByText("Locked"))
    expect(await page.getByRole("alert").count()).toBe(0)
    expect(await page.getByRole("dialog").count()).toBe(0)
    expect(await page.getByRole("link").allTextContents()).toEqual(["Test hub"])
    expect(await page.title()).toBe("Test hub")
    expect(await axeFindings(page)).toEqual([])
    await main.locator("input[type=password]").fill("wrong")
    await button(main, "Sign in").click()
    await expectShown(main.getByText(/does not accept/))

    await signIn(page, KEY)
    await expectShown(listed(page, "act.table"))
    await expectShown(page.getByText("reader", { exact: true }))
    const views = page.getByRole("navigation", { name: "Views" })
    expect(await views.getByRole("link").allTextContents()).toEqual(["History"])
    expect(violations).toEqual([])
  })

  test("shows only what one may call", async () => {
    const { page } = await site.open()
    await signIn(page, KEY)
    await expectShown(listed(page, "act.table"))
    expect(await listed(page, "act.guarded").count()).toBe(0)
    expect(await listed(page, "act.compose").count()).toBeGreaterThan(0)

    await page.goto(`${site.url}/#/o/act.guarded`)
    await page.reload()
    await signIn(page, ADMIN)
    await button(page, "Run").waitFor()
    expect((await run(page)).body.data).toBe("You may.")
    await expectShown(page.getByRole("tabpanel", { name: "Text" }).getByText("You may."))
  })

  test("keeps the key in memory alone", async () => {
    const { page } = await site.open("/o/act.table")
    await signIn(page, KEY)
    await run(page)
    expect(await storedText(page)).not.toContain(KEY)
    expect(page.url()).not.toContain(KEY)
    await page.reload()
    await expectShown(page.getByText("Sign in to continue"))
  })

  test("is kept when the tab is reloaded if one wants so, until one signs out", async () => {
    const { page } = await site.open("/o/act.table")
    await page.getByRole("checkbox", { name: /^Keep it when I reload/ }).check()
    await signIn(page, KEY)
    await expectShown(listed(page, "act.table"))
    await page.reload()
    await expectShown(listed(page, "act.table"))
    await run(page)
    await expectShown(result(page).getByText("Ada"))
    expect(await page.evaluate(() => JSON.stringify(Object.entries(localStorage)))).not.toContain(
      KEY,
    )

    await button(page, "Sign out").click()
    await expectShown(page.getByText("Sign in to continue"))
    expect(await storedText(page)).not.toContain(KEY)
    await page.reload()
    await expectShown(page.getByText("Sign in to continue"))
  })

  test("ends with signing out, which forgets the calls that were made", async () => {
    const { page } = await site.open("/o/act.table")
    await signIn(page, KEY)
    await run(page)
    const stored = async (): Promise<{ session: string; local: string }> =>
      await page.evaluate(() => ({
        session: JSON.stringify(Object.entries(sessionStorage)),
        local: JSON.stringify(Object.entries(localStorage)),
      }))
    await waitFor(async () => expect((await stored()).session).toContain("act.table"))
    expect((await stored()).local).not.toContain("act.table")

    await button(page, "Sign out").click()
    await waitFor(async () => expect(await listed(page, "act.table").count()).toBe(0))
    await waitFor(async () => expect((await stored()).session).not.toContain("act.table"))
  })

  test("says who one is, and changes between identities", async () => {
    const { page, violations } = await site.open()
    await signIn(page, KEY)
    await button(page, "reader").click()
    const dialog = page.getByRole("dialog", { name: "Identity" })
    await expectShown(dialog.getByText("It has no scopes."))
    expect(await axeFindings(page)).toEqual([])
    await button(dialog, "Add an identity").click()
    await signIn(page, ADMIN)
    await expectShown(listed(page, "act.guarded"))

    await button(page, "root").click()
    await expectShown(dialog.getByText("administrator"))
    await expectShown(dialog.getByText("hub:admin"))
    await button(dialog, "reader").click()
    await waitFor(async () => expect(await listed(page, "act.guarded").count()).toBe(0))
    await expectShown(dialog.getByText("It has no scopes."))
    await page.keyboard.press("Escape")
    expect(await storedText(page)).not.toContain(ADMIN)

    // Signing out leaves the other identity to be used.
    await button(page, "Sign out").click()
    await expectShown(page.getByText("Sign in to continue"))
    await button(page.getByRole("list", { name: "Identities" }), "root").click()
    await expectShown(listed(page, "act.guarded"))
    expect(violations).toEqual([])
  })

  test("shows which scope the hub's own pages need", async () => {
    const { page } = await site.open("/sources")
    await signIn(page, KEY)
    await expectShown(page.getByText("hub:admin"))
    await page.reload()
    await signIn(page, ADMIN)
    await expectShown(page.getByRole("main").getByText("local", { exact: true }))
  })

  test("lets a running call ask, with the key in no address", async () => {
    const { page, requests } = await site.open("/o/act.ask")
    await signIn(page, KEY)
    await button(page, "Run").click()
    await button(page.getByRole("region", { name: /^The operation asks/ }), "Decline").click()
    await expectShown(result(page).getByText('"decline"'))
    expect(requests.filter((url) => url.includes("/ws"))).toHaveLength(1)
    const encoded = Buffer.from(KEY).toString("base64url")
    expect(requests.filter((url) => url.includes(KEY) || url.includes(encoded))).toEqual([])
  })
})

async function signIn(page: Page, key: string): Promise<void> {
  const form = page.locator("form.sign-in")
  await form.locator("input[type=password]").fill(key)
  await button(form, "Sign in").click()
  await form.waitFor({ state: "hidden" })
}
