import { describe, expect, test } from "vitest"
import type { Page } from "playwright-core"
import {
  button,
  expectQuiet,
  expectShown,
  listed,
  openOperation,
  search,
  tab,
  way,
} from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const OPERATIONS = ["hostile.answer", "hostile.rows", "hostile.fail", "evil.content"]

describe.skipIf(noBrowser)("a hostile source", () => {
  const site = useConsole(() => [fixtures.hostile, fixtures.evil])

  test("is served under a strict policy", async () => {
    const response = await fetch(`${site.url}/`, { headers: { accept: "text/html" } })
    const policy = response.headers.get("content-security-policy") ?? ""
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain("unsafe")
    expect(policy).not.toMatch(/https?:|\*/)
    expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  })

  test("runs nothing from the list", async () => {
    const opened = await site.show()
    await expectShown(listed(opened.page, "hostile.answer"))
    await search(opened.page).fill("<img src=x onerror=window.__pwned=7>")
    await search(opened.page).fill("hostile __proto__ constructor")
    await search(opened.page).fill("")
    await expectShown(listed(opened.page, "hostile.answer"))
    await expectQuiet(opened, site.url)
  })

  test.for(OPERATIONS)("runs nothing of %s: text, schema, snippets, result", async (id) => {
    const opened = await site.show(`/o/${id}`)
    const { page } = opened
    for (const name of ["Schema", "Snippets"]) {
      await tab(page, name).click()
      await expandAll(page)
    }
    await tab(page, "Try").click()
    await way(page, "JSON").click()
    await way(page, "Form").click()
    await button(page, "Run").click()
    await expectShown(page.getByRole("region", { name: "Result" }).or(page.getByRole("alert")))
    for (const name of await resultTabs(page)) {
      await tab(page, name).click()
      await expandAll(page)
    }
    await expectNoBadLinks(page)
    await expectQuiet(opened, site.url)
  })

  test("runs nothing from a stream, the calls, the sources and the history", async () => {
    const opened = await site.show("/o/hostile.stream")
    const { page } = opened
    await button(page, /^Start/).click()
    await expectShown(page.getByRole("region", { name: "Items" }).getByRole("listitem"))
    await expectNoBadLinks(page)
    for (const name of ["Calls", "Sources", "History"]) {
      await page.getByRole("link", { name, exact: true }).click()
      await expectShown(page.getByRole("heading", { level: 1, name }))
      await expandAll(page)
      await expectNoBadLinks(page)
    }
    await openOperation(page, "hostile.answer")
    await expectQuiet(opened, site.url)
  })

  test("a link that names a hostile operation runs nothing", async () => {
    const name = encodeURIComponent(`<img src=x onerror="window.__pwned=8">`)
    const opened = await site.show(`/o/${name}`)
    await opened.page.getByRole("main").waitFor()
    await opened.page.goto(`${site.url}/#/o/%E0%A4%A`)
    await opened.page.getByRole("main").waitFor()
    await opened.page.goto(`${site.url}/#/o/__proto__`)
    await opened.page.getByRole("main").waitFor()
    await expectQuiet(opened, site.url)
  })
})

async function expandAll(page: Page): Promise<void> {
  const closed = page
    .getByRole("main")
    .locator('[aria-expanded="false"]:not([role="combobox"]), details:not([open]) > summary')
  for (let step = 0; step < 10 && (await closed.count()) > 0; step++) {
    await closed.first().click()
  }
}

async function resultTabs(page: Page): Promise<string[]> {
  const names: string[] = []
  for (const name of ["Error", "Content", "Table", "Data", "Raw"]) {
    if ((await tab(page, name).count()) > 0) names.push(name)
  }
  return names
}

/** No link leads anywhere but to the web, and none hands the page over to where it leads. */
async function expectNoBadLinks(page: Page): Promise<void> {
  const links = await page.locator("a[href]").evaluateAll((nodes) =>
    nodes.map((node) => ({
      href: (node as HTMLAnchorElement).href,
      target: node.getAttribute("target"),
      rel: node.getAttribute("rel") ?? "",
    })),
  )
  const bad = links.filter(({ href, target, rel }) => {
    if (!/^(?:https?|mailto|blob):/.test(href)) return true
    return target === "_blank" && !rel.includes("noopener")
  })
  expect(bad).toEqual([])
  expect(
    await page
      .locator("main iframe:not([sandbox='']), main object, main embed, main form[action]")
      .count(),
  ).toBe(0)
}
