import { mkdtempSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { sourceOf } from "../../hub/plain.ts"
import { button, expectShown } from "./support/page.ts"
import { axeFindings } from "./support/axe.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const dir = mkdtempSync(join(tmpdir(), "console-sources-"))
afterAll(() => rm(dir, { recursive: true, force: true }))

const server = join(dir, "server.mjs")
writeFileSync(server, `console.error("The port is taken."); setTimeout(() => process.exit(3), 300)`)

const sources = [
  fixtures.operations,
  sourceOf("late", { openapi: join(dir, "api.json") }),
  sourceOf("keyed", { openapi: "./nowhere.json", auth: "${env:NO_SUCH_KEY}" }),
  sourceOf("dies", { mcp: { command: process.execPath, args: [server] } }),
]

describe.skipIf(noBrowser)("repairing sources", () => {
  const site = useConsole(() => sources)

  test("failed ones come first, with what is missing and what they wrote", async () => {
    const { page, violations, faults } = await site.show("/sources")
    const card = (name: string) => page.getByRole("article", { name: `Source ${name}` })
    await expectShown(card("keyed").getByText("NO_SUCH_KEY", { exact: true }))
    await expectShown(card("keyed").getByText(/environment of the hub, and restart/))
    // No running hub can gain it: it is not tried again.
    await expectShown(card("keyed").getByText("1 failed attempt."))
    expect(
      await card("keyed")
        .getByText(/Next try/)
        .count(),
    ).toBe(0)
    await expectShown(card("dies").getByLabel("stderr of dies").getByText("The port is taken."))
    expect(await page.getByRole("article").last().getAttribute("aria-label")).toBe("Source local")
    // Also beside the operations of the others.
    const folder = page.getByRole("treeitem").filter({ hasText: "keyed" })
    await expectShown(folder.getByText("failed", { exact: true }))
    expect(await axeFindings(page)).toEqual([])
    expect([...violations, ...faults]).toEqual([])
  })

  test("one that can be repaired is ready after a click, and says what a reload changed", async () => {
    const { page } = await site.show("/sources")
    const late = page.getByRole("article", { name: "Source late" })
    await expectShown(late.getByText("failed", { exact: true }))
    const write = (path: string): void => {
      const get = { operationId: path, responses: {} }
      const info = { title: "Late", version: "1.0.0" }
      const servers = [{ url: "http://127.0.0.1:9" }]
      const paths = { [`/${path}`]: { get } }
      writeFileSync(
        join(dir, "api.json"),
        JSON.stringify({ openapi: "3.1.0", info, servers, paths }),
      )
    }
    write("a")
    await button(late, "Retry now").click()
    await expectShown(late.getByText("ready", { exact: true }))
    await expectShown(late.getByText("1 operation", { exact: true }))
    write("b")
    await button(late, "Reload").click()
    await expectShown(late.getByText(/1 added, 1 removed/))
    await expectShown(late.getByRole("link", { name: "late.b" }))
  })

  test("names the workers behind a broker, and what they do", async () => {
    const { page } = await site.open()
    await page.route("**/hub/sources/local", async (route) => {
      const response = await route.fetch()
      const source = (await response.json()) as object
      const workers = [{ address: "w1", calls: 3, silentFor: 400, state: "alive" }]
      await route.fulfill({ response, json: { ...source, workers } })
    })
    await page.getByRole("link", { name: "Sources", exact: true }).click()
    const card = page.getByRole("article", { name: "Source local" })
    await button(card, "Details").click()
    await expectShown(card.getByText("w1 alive, runs 3 calls, last seen 400 ms ago"))
    expect(await axeFindings(page)).toEqual([])
    await page.unrouteAll({ behavior: "ignoreErrors" })
  })

  test("says how its calls went", async () => {
    await site.hub.registry.execute("act.table", {})
    await site.hub.registry.execute("act.fail", {}).catch(() => undefined)
    const { page } = await site.show("/sources")
    const local = page.getByRole("article", { name: "Source local" })
    await expectShown(local.getByText(/^2 calls, 50 % of the last ones failed; p50 /))
  })
})
