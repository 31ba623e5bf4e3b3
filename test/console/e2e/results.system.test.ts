import type { Page } from "playwright-core"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { seen } from "../../fixtures/console/seen.ts"
import {
  button,
  expectQuiet,
  expectShown,
  field,
  openOperation,
  result,
  run,
  storedText,
  tab,
  tabTo,
} from "./support/page.ts"
import { axeFindings } from "./support/axe.ts"
import { serve } from "../../http-client/server.ts"
import { sourceOf } from "../../hub/plain.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"
import { waitFor } from "../../support/wait-for.ts"

const FILES: Readonly<Record<string, readonly [type: string, content: string]>> = {
  "/files/svg": [
    "image/svg+xml",
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" onload="__pwned=1"><rect width="40" height="20"/></svg>',
  ],
  "/files/html": [
    "text/html; charset=utf-8",
    "<h1>A page</h1><script>parent.__pwned = 1</script><img src='http://127.0.0.1:1/x.png'>",
  ],
  "/files/csv": ["text/csv", 'name,born\n"Lovelace, Ada",1815\nGrace,1906\n'],
  "/files/pdf": ["application/pdf", "%PDF-1.4\n%%EOF"],
  "/files/sound": ["audio/wav", "RIFF"],
  "/files/film": ["video/webm", "film"],
}

const api = await serve(({ url = "" }, response) => {
  const [type, content] = FILES[url] ?? ["application/json", '{"message":"There is no such book."}']
  response.writeHead(url in FILES ? 200 : 404, { "content-type": type }).end(content)
})
afterAll(() => api[Symbol.asyncDispose]())

const library = sourceOf("library", { ...fixtures.api.config, baseUrl: api.url })
const sources = [fixtures.operations, fixtures.media, fixtures.everything, library]

beforeEach(() => void seen().events.splice(0))

const site = useConsole(() => sources)

/** Notes in the page how much JSON it parses at once, and altogether; also without WebSockets. */
function measureParsing(isPlain: boolean): void {
  const parsing = { longest: 0, total: 0 }
  Reflect.set(globalThis, "parsing", parsing)
  const parse = JSON.parse
  JSON.parse = (text: string, reviver): unknown => {
    parsing.longest = Math.max(parsing.longest, text.length)
    parsing.total += text.length
    return parse(text, reviver) as unknown
  }
  if (isPlain) Reflect.deleteProperty(globalThis, "WebSocket")
}

async function parsed(page: Page): Promise<{ longest: number; total: number }> {
  return await page.evaluate(
    () => Reflect.get(globalThis, "parsing") as { longest: number; total: number },
  )
}

describe.skipIf(noBrowser)("what comes back", () => {
  test("has only the fields that were asked for", async () => {
    const { page } = await site.show("/o/act.table")
    await page.getByLabel("Fields", { exact: true }).fill("name, born")
    await run(page)
    await tab(page, "Table").click()
    const heads = result(page).getByRole("columnheader")
    await expect
      .poll(async () => (await heads.allTextContents()).map((text) => text.split(" ")[0]))
      .toEqual(["name", "born"])
  })

  test("a call is cancelled, and its handler's signal aborts", async () => {
    const { page } = await site.show("/o/act.slow")
    await button(page, "Run").click()
    await waitFor(() => expect(seen().events).toEqual(["slow started"]))
    await button(page, "Cancel").click()
    await waitFor(() => expect(seen().events).toEqual(["slow started", "slow stopped"]))
    await button(page, "Run").waitFor()
  })

  test("a call ends at the deadline that was given", async () => {
    const { page } = await site.show("/o/act.slow")
    await page.getByLabel("Deadline").fill("200")
    await button(page, "Run").click()
    await expectShown(result(page).getByText("TIMEOUT"))
    await expectShown(result(page).getByText(/200 ms/))
    // Not the moment of the deadline, in milliseconds since 1970.
    expect(await result(page).textContent()).not.toMatch(/\d{13}/)
    await waitFor(() => expect(seen().events).toEqual(["slow started", "slow stopped"]))
  })

  test("a call goes on while another view is open, and its result is there on return", async () => {
    const { page } = await site.show("/o/live.gate")
    const dock = page.getByRole("region", { name: "Running calls" })
    await button(page, "Run").click()
    await expectShown(result(page).getByText("Running…"))
    expect(await dock.getByRole("listitem").count()).toBe(0)
    await page.getByRole("link", { name: "History", exact: true }).click()
    await expectShown(dock.getByText("1 running"))
    await openOperation(page, "act.slow")
    await button(page, "Run").click()
    await waitFor(() => expect(seen().events).toEqual(["slow started"]))
    await page.getByRole("link", { name: "Sources", exact: true }).click()
    await expectShown(dock.getByText("2 running"))
    expect(await axeFindings(page)).toEqual([])
    seen().events.push("gate opened")
    const done = dock.getByRole("listitem").filter({ hasText: "live.gate" })
    await expectShown(done.getByText("200", { exact: true }))
    expect(seen().events).toEqual(["slow started", "gate opened"])
    await button(dock.getByRole("listitem").filter({ hasText: "act.slow" }), "Cancel").click()
    await waitFor(() => expect(seen().events).toContain("slow stopped"))
    await done.getByRole("link").click()
    await expectShown(result(page).getByText('"through"'))
    expect(await done.count()).toBe(0)
  })

  test("a call that asks waits for its answer while another view is open", async () => {
    const { page } = await site.show("/o/act.ask")
    const dock = page.getByRole("region", { name: "Running calls" })
    await button(page, "Run").click()
    await page.getByRole("region", { name: /^The operation asks/ }).waitFor()
    await page.getByRole("link", { name: "History", exact: true }).click()
    await expectShown(dock.getByText("1 waiting for you"))
    await dock.getByRole("link", { name: "act.ask" }).click()
    await page.getByLabel(/^Your name/).fill("Ada")
    await button(page, "Send answer").click()
    await expectShown(result(page).getByText('"Ada"'))
  })

  test("a stream goes on while another view is open", async () => {
    const { page } = await site.show("/o/live.numbers")
    const dock = page.getByRole("region", { name: "Running calls" })
    await button(page, "Start watching").click()
    await expectShown(page.getByText("Live", { exact: true }))
    await page.getByRole("link", { name: "History", exact: true }).click()
    await expectShown(dock.getByText("Live"))
    expect(seen().events).toEqual(["numbers started"])
    await button(dock, "Stop").click()
    await waitFor(() => expect(seen().events).toEqual(["numbers started", "numbers stopped"]))
    await expectShown(page.getByRole("main").getByText("live.numbers"))
    await dock.getByRole("link", { name: "live.numbers" }).click()
    await expectShown(page.getByText("Stopped", { exact: true }))
    await expectShown(page.getByRole("region", { name: "Items" }).getByRole("listitem").first())
  })

  test("a result is shown as what its media type says, and nothing in it runs or loads", async () => {
    const opened = await site.show("/o/library.getFile")
    const { page } = opened
    // The credential that its source does not have is named before the first call.
    await expectShown(page.getByRole("link", { name: "shelfKey is not set" }))
    const shown = result(page)
    const get = async (name: string, label: string): Promise<void> => {
      await field(page, "name").fill(name)
      await run(page)
      await shown.getByRole("tab", { name: label, selected: true }).waitFor()
    }
    await get("svg", "Image")
    const image = shown.getByRole("img")
    expect(await image.evaluate((it: HTMLImageElement) => it.naturalWidth)).toBe(40)
    await get("html", "Page")
    await expectShown(page.frameLocator("iframe").getByRole("heading", { name: "A page" }))
    expect(await axeFindings(page)).toEqual([])
    await get("csv", "Table")
    await expectShown(shown.getByRole("cell", { name: "Lovelace, Ada" }))
    await get("sound", "Audio")
    await shown.locator("audio").waitFor()
    await get("film", "Video")
    await shown.locator("video").waitFor()
    await get("pdf", "PDF")
    const link = shown.getByRole("link", { name: /PDF/ })
    expect(await link.getAttribute("href")).toMatch(/^blob:/)
    // An empty text is shown as one, rather than nothing at all.
    const meta = { source: "http", statusCode: 200, headers: {}, contentType: "text/plain" }
    await page.route("**/operations/library.getFile", (route) =>
      route.fulfill({ json: { data: "", meta } }),
    )
    await get("blank", "Data")
    await expectShown(shown.getByText('""'))
    expect(opened.requests.filter((to) => to.includes("x.png"))).toEqual([])
    expect(await page.evaluate(() => Reflect.get(globalThis, "__pwned"))).toBe(undefined)
  })

  test("a declared error is shown with its code and details", async () => {
    const { page } = await site.show("/o/act.fail")
    await run(page)
    await expectShown(result(page).getByText("409", { exact: true }))
    await expectShown(result(page).getByText("SOLD_OUT"))
    await expectShown(page.getByText(`Nothing is left of "tea".`))
    await expectShown(page.getByText("left", { exact: false }))
  })

  test("an optional body is open, where it is all that there is to fill in", async () => {
    const { page } = await site.show("/o/library.addBook")
    await field(page, "title").fill("Emma")
    const posted = page.waitForRequest((request) => request.method() === "POST")
    await button(page, "Run").click()
    expect((await posted).postDataJSON()).toEqual({ body: { title: "Emma" } })
  })

  test("a response of an API that its document declares is shown with its status and body", async () => {
    const { page } = await site.show("/o/library.getBook")
    await field(page, "isbn").fill("1")
    await run(page)
    await expectShown(result(page).getByText("404", { exact: true }))
    await expectShown(result(page).getByText("HTTP_404"))
    await expectShown(result(page).getByText("The API answered 404"))
    await expectShown(result(page).getByText(/"There is no such book\."/))
    // The same is read aloud.
    const heard = page.getByRole("main").getByRole("status")
    await heard.filter({ hasText: "404, HTTP_404" }).waitFor({ state: "attached" })
    expect(
      await result(page)
        .getByText(/may have taken effect/)
        .count(),
    ).toBe(0)
  })

  test("a tool that reports a failure has failed, in its result, in Calls and in History", async () => {
    const { page } = await site.show("/o/media.broken")
    await run(page)
    await expectShown(result(page).getByText("tool error"))
    await expectShown(result(page).getByText("The disk is full."))
    await page.getByRole("link", { name: "History", exact: true }).click()
    const main = page.getByRole("main")
    await expectShown(main.getByRole("listitem").filter({ hasText: "tool error" }))
    await page.getByRole("link", { name: "Calls", exact: true }).click()
    const line = main.getByRole("row").filter({ hasText: "media.broken" }).first()
    await expectShown(line.getByText("EXECUTION_ERROR"))
    expect(await line.getByRole("gridcell").nth(3).textContent()).toBe("media")
    await expectShown(main.getByLabel("Errors by code").getByText("EXECUTION_ERROR"))
  })

  test("Markdown is shown as such, and nothing in it runs", async () => {
    const opened = await site.show("/o/act.note")
    const { page } = opened
    await run(page)
    const shown = result(page)
    await expectShown(shown.getByRole("heading", { name: "A note" }))
    await expectShown(shown.locator("strong", { hasText: "bold" }))
    expect(await shown.locator("img").count()).toBe(0)
    await button(shown, "Plain text").click()
    await expectShown(shown.getByText("It is **bold**."))
    await expectQuiet(opened, site.url)
  })

  test("a large result has no node for each value, and names and values are found in it", async () => {
    const { page } = await site.show("/o/act.large")
    await run(page)
    const shown = result(page)
    await expectShown(shown.getByText("values"))
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(5000)
    await shown.getByLabel("Search in Data").fill("19999")
    await expectShown(shown.getByText("1 match", { exact: true }))
    await expectShown(shown.getByRole("listitem").filter({ hasText: "index: 19999" }))
    await shown.getByLabel("Search in Data").fill("no such text")
    await expectShown(shown.getByText("0 matches", { exact: true }))
  })

  test.each(["its WebSocket", "HTTP"])(
    "a result of twenty megabytes over %s is read between other work of the page",
    async (way) => {
      const { page } = await site.open("/o/act.big")
      await button(page, "Run").waitFor()
      await page.evaluate(measureParsing, way === "HTTP")
      await button(page, "Run").click()
      await tab(page, "Table").click()
      await expectShown(result(page).getByText("85,000 rows"))
      const { longest, total } = await parsed(page)
      expect(total).toBeGreaterThan(20_000_000)
      expect(longest).toBeLessThan(1_000_000)
      await button(page, "Show 200 more rows").click()
      await expectShown(result(page).getByText("Person 399", { exact: true }))
    },
  )

  test("a result with 400,000 names is read between other work of the page", async () => {
    const { page } = await site.open("/o/act.names")
    await button(page, "Run").waitFor()
    await page.evaluate(measureParsing, false)
    await button(page, "Run").click()
    await expectShown(result(page).getByText("Show 100 more of 400,000"))
    const { longest, total } = await parsed(page)
    expect(total).toBeGreaterThan(5_000_000)
    expect(longest).toBeLessThan(1_000_000)
  })

  test("rows are shown as a table", async () => {
    const { page } = await site.show("/o/act.table")
    await run(page)
    await tab(page, "Table").click()
    const table = result(page).getByRole("table")
    await table.getByText("Grace").waitFor()
    expect(await table.getByRole("cell", { name: "36.6" }).getAttribute("class")).toBe(
      "cell-number",
    )
    await expectShown(table.getByRole("link", { name: "https://example.com/ada" }))
    await expectShown(table.getByRole("button", { name: /^age/ }).getByText("↕"))
    await table.getByRole("button", { name: /^age/ }).click()
    await expectShown(table.getByRole("row").nth(1).getByText("Person 0"))
    await page.getByLabel("Filter rows").fill("grace")
    await expectShown(result(page).getByText("1 of 8 rows"))
    expect(await table.getByRole("row").count()).toBe(2)
    expect(await table.getByRole("columnheader").allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining("name"), expect.stringContaining("age")]),
    )
  })

  test("content of MCP is shown as what it is", async () => {
    const { page, violations } = await site.show("/o/media.blocks")
    await run(page)
    const shown = result(page)
    await expectShown(shown.getByText("A word before."))
    const image = shown.locator("img").first()
    await image.waitFor()
    await expect.poll(() => image.evaluate((it) => (it as HTMLImageElement).naturalWidth)).toBe(1)
    const audio = shown.locator("audio").first()
    await expect
      .poll(() => audio.evaluate((it) => (it as HTMLAudioElement).readyState))
      .toBeGreaterThan(0)
    await expectShown(shown.getByText("A memo"))
    await expectShown(shown.getByText("The manual"))
    expect(await tab(page, "Table").count()).toBe(0)
    expect(violations).toEqual([])
  })

  test("the picture of a published MCP server is shown", async () => {
    const { page } = await site.show("/o/everything.get-tiny-image")
    await run(page)
    const image = result(page).locator("img").first()
    await image.waitFor()
    await expect
      .poll(() => image.evaluate((it) => (it as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(1)
  })

  test("status and headers are there for who wants them", async () => {
    const { page } = await site.show("/o/act.table")
    await run(page)
    await tab(page, "Raw").click()
    await expectShown(result(page).getByText("request-id"))
    await expectShown(result(page).getByText("200"))

    // Of an API, which is called over HTTP.
    await openOperation(page, "library.getBook")
    await field(page, "isbn").fill("1")
    await run(page)
    await tab(page, "Raw").click()
    await expectShown(result(page).getByText("content-type"))
  })
})

describe.skipIf(noBrowser)("the room of a request and its response", () => {
  const shares = async (page: Page): Promise<readonly number[]> =>
    await page.evaluate(() =>
      [".request-input", ".request-response"].map((one) =>
        Math.round(document.querySelector(one)?.getBoundingClientRect().width ?? 0),
      ),
    )

  test("is shared with a bar, by keyboard and by pointer, and kept over a reload", async () => {
    const { page } = await site.open("/o/input.text")
    const bar = page.getByRole("separator", { name: "Width of the request" })
    await bar.waitFor()
    const [left = 0, right = 0] = await shares(page)
    // Tables need more room than fields.
    expect(right).toBeGreaterThan(left)
    await tabTo(page, "Width of the request")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    const value = () => bar.getAttribute("aria-valuenow")
    await expect.poll(value).toBe("50")
    await expect.poll(async () => (await shares(page))[0]).toBeGreaterThan(left)
    for (let step = 0; step < 20; step++) await page.keyboard.press("ArrowRight")
    await expect.poll(value).toBe("80")
    expect(await axeFindings(page)).toEqual([])

    await page.reload()
    await expect.poll(value).toBe("80")
    const { x, y } = (await bar.boundingBox()) as { x: number; y: number }
    await page.mouse.move(x + 2, y + 20)
    await page.mouse.down()
    await page.mouse.move(x - 300, y + 20, { steps: 3 })
    await page.mouse.up()
    await expect.poll(async () => Number(await value())).toBeLessThan(60)
    const moved = await value()
    expect(Number(moved)).toBeGreaterThan(20)
    // Only while it is held.
    await page.mouse.move(x, y + 20)
    expect(await value()).toBe(moved)
    await bar.dblclick()
    await expect.poll(() => shares(page)).toEqual([left, right])
  })

  test("is the response's alone where there is no input, and one below the other on a phone", async () => {
    const { page } = await site.show("/o/input.nothing")
    const bar = page.getByRole("separator", { name: "Width of the request" })
    await expectShown(page.getByText("This operation takes no input."))
    expect(await bar.isVisible()).toBe(false)
    const [left, right] = await shares(page)
    expect(left).toBe(right)
    await page.setViewportSize({ width: 390, height: 844 })
    await openOperation(page, "input.text")
    expect(await bar.isVisible()).toBe(false)
  })
})

describe.skipIf(noBrowser)("the history", () => {
  test("is deleted as a whole only when one confirms it", async () => {
    const { page } = await site.open("/o/act.count")
    await run(page)
    await page.getByRole("link", { name: "History", exact: true }).click()
    const entry = page.getByRole("main").getByRole("listitem").filter({ hasText: "act.count" })
    await expectShown(entry)
    const said: string[] = []
    page.once("dialog", (dialog) => {
      said.push(dialog.message())
      void dialog.dismiss()
    })
    await button(page, "Delete all").click()
    await expectShown(entry)
    expect(said).toEqual(["Delete 1 call?"])
    page.once("dialog", (dialog) => void dialog.accept())
    await button(page, "Delete all").click()
    await expectShown(page.getByText("No calls yet"))
  })

  test("keeps calls over a reload, runs one again and compares two results", async () => {
    const { page, faults, violations } = await site.open("/o/act.count")
    const first = (await run(page)).body.data as { calls: number }
    const second = (await run(page)).body.data as { calls: number }
    expect(second.calls).toBe(first.calls + 1)
    await page.reload()
    await page.getByRole("link", { name: "History", exact: true }).click()
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
    await expectShown(page.getByRole("treeitem"))
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage)) localStorage.setItem(key, `{"broken": [`)
    })
    await page.goto(`${site.url}/#/history`)
    await page.reload()
    await expectShown(page.getByRole("heading", { level: 1, name: "History" }))
    expect(faults).toEqual([])
  })
})
