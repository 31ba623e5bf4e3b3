import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import { afterAll, describe, expect, test } from "vitest"
import type { ApprovalRule } from "../../../src/index.ts"
import { serve } from "../../http-client/server.ts"
import { sourceOf } from "../../hub/plain.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { button, expectShown, openOperation, run, writeJson } from "./support/page.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const dir = mkdtempSync(join(tmpdir(), "console-approvals-"))
const approvalsFile = join(dir, "approvals.json")
const operation = (name: string): string => `export default {
  namespace: "w", name: "${name}", version: "1.0.0", type: "mutation", description: "Changes something",
  inputSchema: { type: "object" }, outputSchema: {}, accessControl: { requiredScopes: [] },
  handler: ({ n }) => n,
}
`
mkdirSync(join(dir, "operations"))
for (const name of ["save", "drop"]) {
  writeFileSync(join(dir, "operations", `${name}.mjs`), operation(name))
}
let added = 0
const api = await serve((_, response) => {
  added++
  response.statusCode = 201
  response.end()
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const approvals: readonly ApprovalRule[] = [
  { match: "w.drop", via: "console", decide: "deny", reason: "Not from the console." },
  { type: "mutation", decide: "ask", reason: "Others can see it." },
]
const local = sourceOf("local", { scan: join(dir, "operations"), approvals })
const library = sourceOf("library", { ...fixtures.api.config, baseUrl: api.url, approvals })

describe.skipIf(noBrowser)("approvals in the console", () => {
  const site = useConsole(() => [local, library], {}, { approvalsFile })

  /** A call of an agent, which cannot be asked. Returns its result, or the code of its error. */
  const call = (n: number, id = "agent"): Promise<unknown> =>
    site.hub.registry.execute("w.save", { n }, { identity: { id, scopes: [] }, via: "mcp" }).then(
      ({ data }) => data,
      ({ code }: { readonly code: string }) => code,
    )
  const card = (page: Page, n: number): Locator =>
    page.getByRole("article", { name: "w.save" }).filter({ hasText: `{"n":${n}}` })

  test("lists what waits, counts it beside the view, and lets a person approve it once", async () => {
    const { page, faults, violations } = await site.open("/approvals")
    await expectShown(page.getByText("No call waits"))
    expect(await call(1)).toBe("APPROVAL_REQUIRED")
    await expectShown(card(page, 1).getByText("agent"))
    await expectShown(card(page, 1).getByText("by mcp"))
    await expectShown(card(page, 1).getByText(/Others can see it/))
    await expectShown(page.getByRole("link", { name: "Approvals 1 waiting" }))
    expect(await axeFindings(page)).toEqual([])
    await button(card(page, 1), "Approve").focus()
    await page.keyboard.press("Enter")
    await expectShown(page.getByText("No call waits"))
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1")
    await expectShown(page.getByRole("link", { name: "Approvals", exact: true }))
    expect(await call(1)).toBe(1)
    expect(await call(1)).toBe("APPROVAL_REQUIRED")
    await button(card(page, 1), "Decline").click()
    await expect.poll(() => call(1)).toBe("DECLINED")
    expect([...faults, ...violations]).toEqual([])
  })

  test("opens the call of an address, and reports one that no longer waits", async () => {
    await call(2)
    const [waiting] = site.hub.registry.approvals!.waiting
    const { page } = await site.show(`/approvals/${waiting!.id}`)
    await expectShown(page.locator("[data-asked]").getByText('{"n":2}'))
    site.hub.registry.approvals!.answer(waiting!.id, { approve: false })
    await expectShown(page.getByText(/it was answered, or has expired/))
  })

  test("approves further calls of an operation for the session, and for always", async () => {
    const { page } = await site.show("/approvals")
    await call(3)
    await button(card(page, 3), "For this session").click()
    await expect.poll(() => call(4)).toBe(4)
    await call(5, "other")
    await button(card(page, 5), "Always").click()
    await expect.poll(() => call(6, "other")).toBe(6)
    expect(JSON.parse(readFileSync(approvalsFile, "utf8"))).toMatchObject([
      { operation: "w.save", caller: "other" },
    ])
  })

  test("asks in a dialog about calls of the page itself", async () => {
    const { page, faults } = await site.show("/o/w.save")
    const dialog = page.getByRole("dialog", { name: "Run this operation?" })
    await writeJson(page, { n: 7 })
    await button(page, "Run").click()
    await expectShown(dialog.getByText('Input: {"n":7}'))
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await expectShown(page.getByRole("main").getByText("DECLINED").first())
    const [{ body }] = await Promise.all([
      run(page),
      button(dialog, "Approve")
        .focus()
        .then(() => page.keyboard.press("Enter")),
    ])
    expect(body).toMatchObject({ data: 7 })
    const own = site.hub.registry.approvals!.waiting.filter(({ caller }) => caller === undefined)
    expect(own).toEqual([])
    expect(faults).toEqual([])
  })

  test("asks about operations of an HTTP API, too", async () => {
    const { page } = await site.show()
    await openOperation(page, "library.addBook")
    await writeJson(page, { body: { title: "A" } })
    await button(page, "Run").click()
    const dialog = page.getByRole("dialog", { name: "Run this operation?" })
    await expectShown(dialog.getByText(/library\.addBook/))
    await button(dialog, "Approve").click()
    await expect.poll(() => added).toBe(1)
  })

  test("is a way in that rules can match, besides that over which it calls", async () => {
    const { page } = await site.show("/o/w.drop")
    const { body } = await run(page)
    expect(body).toMatchObject({ code: "DENIED_BY_RULE" })
    await expectShown(
      page
        .getByRole("main")
        .getByText(/Not from the console/)
        .first(),
    )
  })

  test("filters calls by what was decided about them", async () => {
    const { page } = await site.show("/calls")
    const calls = page.getByLabel("Calls", { exact: true })
    const filter = page.getByLabel("Filter by decision")
    await filter.selectOption("denied")
    await expectShown(calls.getByText("DENIED_BY_RULE"))
    expect(await calls.getByText("APPROVAL_REQUIRED").count()).toBe(0)
    await filter.selectOption("asked")
    await expectShown(calls.getByText("APPROVAL_REQUIRED"))
    await filter.selectOption("approved")
    await expectShown(calls.getByText("ok"))
    expect(await calls.getByText("DECLINED").count()).toBe(0)
  })
})
