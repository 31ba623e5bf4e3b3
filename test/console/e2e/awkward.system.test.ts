import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { serve } from "../../http-client/server.ts"
import { sourceOf } from "../../hub/plain.ts"
import {
  button,
  expectShown,
  field,
  listed,
  openOperation,
  result,
  run,
  search,
  tab,
} from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const LONG = "word ".repeat(40).trim()
const ROWS = [
  { email: "user0@example.com", share: 53.05, about: LONG },
  { email: "somebody.else@example.com", share: 7, about: "short" },
]

const api = await serve((request, response) => {
  const isText = request.url === "/text"
  response.writeHead(200, { "content-type": isText ? "text/plain" : "application/json" })
  response.end(isText ? "first line\nsecond line" : JSON.stringify(ROWS))
})
const dir = mkdtempSync(join(tmpdir(), "console-awkward-"))
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  rmSync(dir, { recursive: true, force: true })
})

const text = { type: "string" }
const ok = { 200: { description: "Fine" } }
const RUNNER = "Add custom labels to a self-hosted runner for"

/** What real documents have: HTML in texts, keywords of other types, long names, limits of all kinds. */
const AWKWARD = {
  openapi: "3.1.0",
  info: { title: "Awkward", version: "1.0.0" },
  servers: [{ url: api.url }],
  paths: {
    "/customers": {
      post: {
        operationId: "customers",
        description: "<p>Creates a new <code>Customer</code>.</p>",
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["account"],
                properties: {
                  note: text,
                  account: { ...text, maxLength: 5000, uniqueItems: true },
                  at: { ...text, format: "time" },
                  key: { ...text, format: "uuid" },
                  level: { type: "integer", minimum: 1, maximum: 10 },
                  code: { ...text, pattern: "^[A-Z]{3}$" },
                },
              },
            },
          },
        },
        responses: { ...ok, 400: { description: "Something is missing" } },
      },
    },
    "/rows": { get: { operationId: "rows", responses: ok } },
    "/text": {
      get: {
        operationId: "text",
        responses: { 200: { description: "Text", content: { "text/plain": { schema: text } } } },
      },
    },
    "/orgs/labels": {
      post: { operationId: "labels-org", summary: `${RUNNER} an organization`, responses: ok },
    },
    "/repos/labels": {
      post: { operationId: "labels-repo", summary: `${RUNNER} a repository`, responses: ok },
    },
  },
}

function documentFile(): string {
  const file = join(dir, "awkward.json")
  writeFileSync(file, JSON.stringify(AWKWARD))
  return file
}

const site = useConsole(() => [
  fixtures.operations,
  fixtures.media,
  sourceOf("awkward", { openapi: documentFile(), baseUrl: api.url }),
])

describe.skipIf(noBrowser)("an API with an awkward document", () => {
  test("has no HTML in lists, and long names end where they differ", async () => {
    const { page } = await site.show()
    await search(page).fill("customer")
    await expectShown(listed(page, "awkward.customers"))
    expect(await page.getByRole("tree").innerText()).not.toContain("<p>")
    await search(page).fill("custom labels")
    for (const [id, end] of [
      ["awkward.labels-org", "an organization"],
      ["awkward.labels-repo", "a repository"],
    ] as const) {
      const row = listed(page, id)
      await expectShown(row)
      const tail = row.locator(".find-name .find-end")
      expect((await tail.textContent())?.trim()).toContain(end.slice(-10))
      const isInside = await tail.evaluate((it) => {
        const line = it.closest(".find-text")?.getBoundingClientRect()
        return it.getBoundingClientRect().right <= (line?.right ?? 0) + 1
      })
      expect(isInside, id).toBe(true)
    }
    // In the palette of a phone they begin beside their icons.
    await page.setViewportSize({ width: 390, height: 844 })
    await page.keyboard.press("Control+K")
    await page.getByRole("combobox", { name: "Search everything" }).fill("custom labels")
    const option = page.getByRole("option").filter({ hasText: RUNNER }).first()
    await option.waitFor()
    const far = await option.evaluate(({ children: [icon, label] }) => {
      const [first, second] = [icon, label].map((it) => it?.getBoundingClientRect())
      return (second?.top ?? 0) - (first?.bottom ?? 0)
    })
    expect(far).toBeLessThan(0)
    await page.keyboard.press("Escape")
    await openOperation(page, "awkward.customers")
    await expectShown(page.getByRole("heading", { level: 1, name: "Creates a new Customer" }))
  })

  test("has fields that say what they take, the required ones first, and no textarea for an id", async () => {
    const { page } = await site.show("/o/awkward.customers")
    const account = field(page, "account")
    await account.waitFor()
    expect(await account.evaluate((it) => it.tagName)).toBe("INPUT")
    const main = page.getByRole("main")
    expect(await main.locator(".field-label").allTextContents()).toEqual(
      ["body", "account", "note", "at", "key", "level", "code"].map(
        (name) => expect.stringContaining(name) as string,
      ),
    )
    const form = await main.innerText()
    expect(form).not.toMatch(/no duplicates|no item twice/)
    for (const said of ["time", "uuid", "1 to 10", "^[A-Z]{3}$"]) expect(form).toContain(said)
    await field(page, "code").fill("abc")
    await button(page, "Run").click()
    const code = main.locator(".field", { has: page.locator(".field-label", { hasText: "code" }) })
    await expectShown(code.last().getByText("does not match pattern"))
    await expectShown(code.last().getByText("string, matches ^[A-Z]{3}$"))
  })

  test("has one example in the form and in the snippets", async () => {
    const { page } = await site.open("/o/awkward.customers?tab=snippets")
    const snippets = page.getByRole("main").locator("pre")
    await expectShown(snippets)
    const texts = (await snippets.allTextContents()).join("\n")
    await tab(page, "Try").click()
    await button(page, "Example").click()
    const account = await field(page, "account").inputValue()
    expect(account).not.toBe("")
    expect(texts).toContain(account)
  })

  test("has its error codes once, and its request in its header", async () => {
    const { page } = await site.show("/o/awkward.customers?tab=schema")
    const main = page.getByRole("main")
    await expectShown(main.getByText("HTTP_400"))
    expect(await main.innerText()).not.toContain("HTTP 400")
    await expectShown(main.getByText("POST /customers"))
  })

  test("has tables whose words are whole, and whose rows are a line high", async () => {
    const { page } = await site.show("/o/awkward.rows")
    await run(page)
    await tab(page, "Table").click()
    const table = result(page).getByRole("table")
    const heights = await table
      .getByRole("row")
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
    expect(Math.max(...heights)).toBeLessThan(50)
    const mail = table.getByRole("cell", { name: "user0@example.com" })
    expect(await mail.evaluate((it) => it.scrollWidth <= it.clientWidth)).toBe(true)
    await button(table, "share").click()
    expect(await table.getByRole("cell").nth(1).textContent()).toBe("7")
  })

  test("has text results on their own lines", async () => {
    const { page } = await site.show("/o/awkward.text")
    await run(page)
    const shown = result(page).getByText("first line")
    await expectShown(shown)
    expect(await shown.first().innerText()).toBe("first line\nsecond line")
    await tab(page, "Data").click()
    const tree = result(page).getByRole("list", { name: "Data" })
    expect(await tree.innerText()).toContain("first line\nsecond line")
  })
})

describe.skipIf(noBrowser)("what the console says", () => {
  test("of a cancelled call is that it was cancelled, in amber everywhere", async () => {
    const { page } = await site.show("/o/act.slow")
    await page.getByLabel("Deadline").fill("200")
    await button(page, "Run").click()
    await expectShown(result(page).getByText("TIMEOUT"))
    // Its request once: in the text, or below it.
    const texts = await result(page).innerText()
    const [, id = ""] = /\(request (\S+)\)/.exec(texts) ?? []
    expect(id).not.toBe("")
    expect(texts.split(id)).toHaveLength(2)
    await page.getByLabel("Deadline").fill("")
    await button(page, "Run").click()
    await button(page, "Cancel").click()
    await expectShown(result(page).locator(".badge-warn", { hasText: "cancelled" }))
    const main = page.getByRole("main")
    await page.getByRole("link", { name: "History", exact: true }).click()
    await expectShown(main.locator(".badge-warn", { hasText: "cancelled" }))
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    await expectShown(main.locator(".badge-warn", { hasText: "ABORTED" }))
  })

  test("of counters is from when they are, and of calls their source and caller", async () => {
    await site.hub.registry.execute("act.table", {})
    await site.hub.registry.execute("media.blocks", {})
    const { page } = await site.show("/calls")
    const main = page.getByRole("main")
    for (const name of ["Calls since start", "p50"]) {
      await expectShown(main.getByText(name, { exact: true }))
    }
    await expectShown(main.getByText(/calls\/s, last minute/))
    for (const [id, source] of [
      ["act.table", "local"],
      ["media.blocks", "media"],
    ] as const) {
      const cells = main.getByRole("row").filter({ hasText: id }).first().getByRole("gridcell")
      await expect.poll(() => cells.nth(3).textContent()).toBe(source)
      expect(await cells.nth(4).textContent()).toBe("anonymous")
    }
  })

  test("of a steady load is a level line: the second that is not over is not in it", async () => {
    const { page } = await site.open()
    await page.route("**/hub/stats", async (route) => {
      const response = await route.fetch()
      const stats = (await response.json()) as object
      const history = [...Array.from({ length: 59 }, () => 50), 3]
      await route.fulfill({ response, json: { ...stats, history } })
    })
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    const line = page.locator(".sparkline polyline")
    await line.waitFor({ state: "attached" })
    const heights = (await line.getAttribute("points"))?.split(" ").map((at) => at.split(",")[1])
    expect(new Set(heights).size).toBe(1)
    await page.unrouteAll({ behavior: "ignoreErrors" })
  })

  test("of a tool has no paths of the machine and no long fingerprint", async () => {
    const { page } = await site.show("/o/media.blocks")
    await button(page, "Details").click()
    const details = page.getByRole("main").locator(".operation-details")
    await expectShown(details.getByText("Fingerprint"))
    const shown = await details.innerText()
    expect(shown).not.toMatch(/[0-9a-f]{13}/)
    expect(shown).not.toContain(process.execPath)
    expect(shown).not.toContain(import.meta.dirname.slice(0, 8))
    await page.getByRole("link", { name: "Sources", exact: true }).click()
    const card = page.getByRole("article", { name: "Source media" })
    await expectShown(card)
    expect(await card.innerText()).not.toContain(process.execPath)
  })

  test("is reached without the # of its address, too", async () => {
    const { page } = await site.show()
    await page.goto(`${site.url}/calls`)
    await expectShown(page.getByRole("heading", { level: 1, name: "Calls" }))
    await page.goto(`${site.url}/o/act.count`)
    await expectShown(page.getByRole("heading", { level: 1, name: "Count calls" }))
    expect(await page.title()).toBe("act.count · Test hub")
    await page.goto(`${site.url}/nowhere`)
    await page.getByRole("link", { name: "To the operations" }).click()
    await expectShown(page.getByRole("heading", { level: 1, name: "Test hub" }))
  })

  test("of a type is in one piece on a tablet", async () => {
    const { page } = await site.show("/o/live.numbers")
    await page.setViewportSize({ width: 768, height: 1024 })
    const badge = page.getByRole("main").locator(".badge-subscription").first()
    await badge.waitFor()
    expect((await badge.boundingBox())?.height).toBeLessThan(30)
  })
})
