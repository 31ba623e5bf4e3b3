import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { sourceOf } from "../../hub/plain.ts"
import { corpusText, hasCorpus } from "../../sources/openapi/corpus.ts"
import { button, expectQuiet, expectShown, listed, search, tab, way } from "./support/page.ts"
import { manyOperations } from "./support/many.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const folder = mkdtempSync(join(tmpdir(), "operations-many-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function documentOf(name: string, text: string): string {
  const file = join(folder, `${name}.json`)
  writeFileSync(file, text)
  return file
}

describe.skipIf(noBrowser)("five thousand operations", () => {
  const site = useConsole(() => [
    sourceOf("many", { openapi: documentOf("many", manyOperations(5000)) }),
  ])

  test("are in closed folders, listed a screen at a time, to the last", async () => {
    const opened = await site.show()
    const { page } = opened
    await page.getByRole("treeitem", { name: /^shelf 0/ }).click()
    await expectShown(listed(page, "many.thing0000_read"))
    await expectShown(page.getByText(/5[,.\s]?000/))
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(3000)
    const list = page.getByLabel("Operations", { exact: true })
    await list.hover()
    const last = page.getByRole("treeitem", { name: /^shelf 96/ })
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 1_000_000)
        return await last.count()
      })
      .toBeGreaterThan(0)
    await last.click()
    await expectShown(listed(page, "many.thing0096_read"))
    await expectQuiet(opened, site.url)
  })

  test("have the folder of the opened one open", async () => {
    const { page } = await site.show("/o/many.thing3217_read")
    const row = listed(page, "many.thing3217_read").last()
    await expectShown(row)
    // In sight, also after the folder of recent operations has come above it.
    await expect
      .poll(() =>
        row.evaluate((it) => {
          const { bottom } = it.getBoundingClientRect()
          return bottom <= (it.closest(".find-scroll")?.getBoundingClientRect().bottom ?? 0)
        }),
      )
      .toBe(true)
  })

  test("are no tools of MCP one by one, and the console does not say so", async () => {
    const { page } = await site.show("/o/many.thing3217_read?tab=snippets")
    const main = page.getByRole("main")
    await expectShown(main.getByText(/finds "many\.thing3217_read" with search_operations/))
    expect(await main.getByText(/one of its tools/).count()).toBe(0)
  })

  test("are found by a word that one of them has", async () => {
    const { page } = await site.show()
    await search(page).fill("thing3217")
    await expectShown(listed(page, "many.thing3217_read"))
    await page.keyboard.press("Enter")
    await expectShown(page.getByRole("heading", { level: 1, name: /3217/ }))
  })
})

describe.skipIf(noBrowser)("a schema of 3,900 parts", () => {
  const site = useConsole(() => [
    sourceOf("deep", { openapi: documentOf("deep", JSON.stringify(deepDocument())) }),
  ])

  test("has a form that opens level by level, to the last, and is searched as a whole", async () => {
    const { page } = await site.show("/o/deep.create")
    for (const name of ["part_4", "part_4_4", "part_4_4_4", "part_4_4_4_4"]) {
      await button(page, `Add ${name}`).click()
    }
    const main = page.getByRole("main")
    await expectShown(main.getByLabel(/^part_4_4_4_4_4/))
    expect(await main.getByText("any JSON").count()).toBe(0)
    await tab(page, "Schema").click()
    await page.getByLabel("Search in Input").fill("part_4")
    await expectShown(page.getByText("781 matches", { exact: true }))
  })
})

/** An operation whose body has five members at each of five levels, all of them optional. */
function deepDocument(): object {
  const part = (level: number, name: string): object => {
    if (level === 0) return { type: "string" }
    const names = Array.from({ length: 5 }, (_, at) => `${name}_${at}`)
    const members = names.map((one) => [one, part(level - 1, one)])
    return { type: "object", properties: Object.fromEntries(members) }
  }
  const content = { "application/json": { schema: part(5, "part") } }
  const responses = { 204: { description: "Done" } }
  return {
    openapi: "3.1.0",
    info: { title: "Deep", version: "1.0.0" },
    servers: [{ url: "http://127.0.0.1:1" }],
    paths: {
      "/parts": {
        post: { operationId: "create", requestBody: { required: true, content }, responses },
      },
    },
  }
}

describe.skipIf(noBrowser || !hasCorpus)("the whole API of GitHub", () => {
  const site = useConsole(() => [
    sourceOf("github", { openapi: documentOf("github", corpusText("github.json.gz")) }),
  ])

  test("is listed and searched", async () => {
    const { page } = await site.show()
    await search(page).fill("create an issue")
    await expectShown(listed(page, "github.issues_create"))
    await search(page).fill("github.repos_get")
    await expectShown(listed(page, "github.repos_get"))
    await search(page).fill("POST /repos/{owner}/{repo}/issues")
    await page.keyboard.press("Enter")
    await page.waitForURL(/github\.issues_create$/)
  })

  test.for([
    ["merge pr", "github.pulls_merge"],
    ["delete repo", "github.repos_delete"],
    ["create issue", "github.issues_create"],
    ["open a ticket", "github.issues_create"],
    ["/repos/octocat/hello/merges", "github.repos_merge"],
  ] as const)("%s is found among the first", async ([query, id]) => {
    const { page } = await site.show()
    await search(page).fill(query)
    const rows = page.getByRole("treeitem")
    await expect
      .poll(async () =>
        (await rows.evaluateAll((all) => all.map((row) => row.getAttribute("title")))).slice(0, 6),
      )
      .toContain(id)
  })

  test.for([
    "github.issues_create",
    "github.repos_create-or-update-file-contents",
    "github.checks_create",
  ])("%s has a form, a JSON editor and schemas", async (id) => {
    const opened = await site.show(`/o/${encodeURIComponent(id)}`)
    const { page } = opened
    await button(page, "Run").waitFor()
    await page
      .getByLabel(/^owner/)
      .first()
      .fill("octocat")
    await way(page, "JSON").click()
    await expect.poll(() => page.getByLabel("Input as JSON").textContent()).toContain("octocat")
    await tab(page, "Schema").click()
    await expectShown(page.getByRole("main").getByText("owner"))
    await tab(page, "Snippets").click()
    await expectQuiet(opened, site.url)
  })
})
