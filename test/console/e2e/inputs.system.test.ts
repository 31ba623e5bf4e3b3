import { describe, expect, test } from "vitest"
import {
  button,
  expectShown,
  field,
  openOperation,
  result,
  run,
  way,
  writeJson,
} from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"
import type { Page } from "playwright-core"

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
  "base64",
)

/** What is done in the form, and the input that comes of it. */
const FORMS: readonly (readonly [
  kind: string,
  fill: (page: Page) => Promise<void>,
  input: unknown,
])[] = [
  ["text", (page) => field(page, "name").fill("Ada"), { name: "Ada" }],
  [
    "numbers",
    async (page) => {
      await field(page, "count").fill("4")
      await field(page, "ratio").fill("0.25")
    },
    { count: 4, ratio: 0.25 },
  ],
  ["flag", (page) => field(page, "loud").check(), { loud: true }],
  [
    "choice",
    async (page) => void (await field(page, "color").selectOption({ label: "green" })),
    { color: "green" },
  ],
  ["date", (page) => field(page, "day").fill("2024-02-29"), { day: "2024-02-29" }],
  [
    "list",
    async (page) => {
      const items = page.getByRole("main").locator('input[type="text"], textarea')
      // The form is loaded on demand; it shows items once its button is there.
      await button(page, /add/i).first().waitFor()
      if ((await items.count()) === 0) await button(page, /add/i).first().click()
      await items.first().fill("one")
      await button(page, /add/i).first().click()
      await items.nth(1).fill("two")
    },
    { tags: ["one", "two"] },
  ],
  [
    "nested",
    async (page) => {
      await field(page, "name").fill("Ada")
      await field(page, "city").fill("London")
    },
    { person: { name: "Ada", address: { city: "London" } } },
  ],
  [
    "union",
    async (page) => {
      await page.getByRole("main").locator("select").first().selectOption({ label: "Square" })
      await field(page, "side").fill("2")
    },
    { shape: { kind: "square", side: 2 } },
  ],
  [
    "file",
    async (page) => {
      const file = { name: "pixel.png", mimeType: "image/png", buffer: PNG }
      await page.getByRole("main").locator('input[type="file"]').setInputFiles(file)
    },
    { picture: PNG.toString("base64") },
  ],
  ["defaults", async () => {}, { greeting: "Hello", times: 3 }],
]

/** Inputs of each kind that are written as JSON. */
const WRITTEN: readonly (readonly [kind: string, input: unknown])[] = [
  ["text", { name: 'Grace \u{1F680} "quoted"' }],
  ["numbers", { count: 10, ratio: 1e-3 }],
  ["flag", { loud: false }],
  ["choice", { color: "blue", size: 2 }],
  ["date", { day: "2024-02-29", moment: "2024-02-29T12:00:00Z" }],
  ["list", { tags: ["a", "b", "c"] }],
  ["nested", { person: { name: "Ada", address: { city: "London" } } }],
  ["union", { shape: { kind: "circle", radius: 1.5 } }],
  ["map", { labels: { one: "1", "two words": "2", constructor: "3" } }],
  ["file", { picture: PNG.toString("base64") }],
  ["maybe", { nickname: null, age: null }],
]

describe.skipIf(noBrowser)("trying an operation", () => {
  const site = useConsole(() => [fixtures.operations])

  test.for(FORMS)("takes %s from the form", async ([kind, fill, input]) => {
    const { page, faults, violations } = await site.show(`/o/input.${kind}`)
    await way(page, "Form").waitFor()
    await fill(page)
    const { status, body } = await run(page)
    expect(body.data).toEqual({ got: input })
    expect(status).toBe(200)
    await expectShown(result(page).getByText("got"))
    expect([...faults, ...violations]).toEqual([])
  })

  test("takes a map of any names from the form", async () => {
    const { page } = await site.show("/o/input.map")
    await way(page, "Form").waitFor()
    await button(page, /add entry/i).click()
    await page.getByLabel("Key", { exact: true }).fill("language")
    await page.keyboard.press("Tab")
    // The value of the entry, whose key was changed by leaving it.
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.id))
      .toMatch(/_labels_language$/)
    await field(page, "language").fill("English")
    expect((await run(page)).body.data).toEqual({ got: { labels: { language: "English" } } })
  })

  test("moves and removes items of a list, and keeps an emptied one", async () => {
    const { page } = await site.open("/o/input.list")
    await field(page, "Item 1").fill("one")
    for (const [number, text] of ["two", "three"].entries()) {
      await button(page, "Add item to tags").click()
      await field(page, `Item ${number + 2}`).fill(text)
    }
    await button(page, "Move item 2 up").click()
    await button(page, "Remove item 3").click()
    expect((await run(page)).body.data).toEqual({ got: { tags: ["two", "one"] } })
    await field(page, "Item 2").fill("")
    expect((await run(page)).body.data).toEqual({ got: { tags: ["two", ""] } })
  })

  test("takes another choice, and what is typed into it", async () => {
    const { page } = await site.open("/o/input.union")
    const kinds = page.getByLabel("shape: one of")
    await kinds.selectOption({ label: "Square" })
    await field(page, "side").fill("2")
    await kinds.selectOption({ label: "Circle" })
    expect(await field(page, "side").count()).toBe(0)
    // The number stays as it is typed.
    await field(page, "radius").pressSequentially("1.50")
    expect(await field(page, "radius").inputValue()).toBe("1.50")
    const input = { shape: { kind: "circle", radius: 1.5 } }
    expect((await run(page)).body.data).toEqual({ got: input })
  })

  test("switches null on and off", async () => {
    const { page } = await site.open("/o/input.maybe")
    const isNull = page.getByLabel("nickname is null")
    await isNull.check()
    expect((await run(page)).body.data).toEqual({ got: { nickname: null } })
    await isNull.uncheck()
    await field(page, "nickname").and(page.getByRole("textbox")).fill("Ada")
    expect((await run(page)).body.data).toEqual({ got: { nickname: "Ada" } })
  })

  test("takes null from the form where that is allowed", async () => {
    const { page } = await site.show("/o/input.maybe")
    await way(page, "Form").waitFor()
    await expectShown(field(page, "nickname"))
    await writeJson(page, { nickname: null })
    await way(page, "Form").click()
    expect((await run(page)).body.data).toEqual({ got: { nickname: null } })
  })

  test("takes every kind of input as JSON, one after the other in the same page", async () => {
    const { page, faults, violations } = await site.show("/o/input.text")
    for (const [kind, input] of WRITTEN) {
      await openOperation(page, `input.${kind}`)
      await writeJson(page, input)
      expect((await run(page)).body.data, kind).toEqual({ got: input })
    }
    expect([...faults, ...violations]).toEqual([])
  })

  test("form and JSON stay in step, both ways", async () => {
    const { page } = await site.show("/o/input.numbers")
    await writeJson(page, { count: 7, ratio: 0.5 })
    await way(page, "Form").click()
    await expect.poll(() => field(page, "count").inputValue()).toBe("7")
    await field(page, "count").fill("8")
    await way(page, "JSON").click()
    await expect
      .poll(() => page.getByLabel("Input as JSON").textContent())
      .toMatch(/count"\s*:\s*8/)
  })

  test("shows the validation errors of an input before it is sent", async () => {
    const { page, frames } = await site.open("/o/input.numbers")
    const calls = (): number => frames.filter((text) => text.includes("input.numbers")).length
    await field(page, "count").waitFor()
    const before = calls()
    await button(page, "Run").click()
    const focused = page.locator('input:focus[aria-invalid="true"]')
    await focused.waitFor()
    expect(await focused.evaluate((it) => it.id)).toMatch(/count$/)
    await expectShown(page.getByRole("alert").getByText("1 problem in the input"))
    await field(page, "count").fill("11")
    await expectShown(page.getByRole("main").getByText(/10/))
    expect(calls()).toBe(before)
    await button(page, "Send anyway").click()
    await expectShown(result(page).getByText("VALIDATION_ERROR"))
    await field(page, "count").fill("10")
    expect((await run(page)).body.data).toEqual({ got: { count: 10 } })
  })

  test("shows where JSON is broken, and does not run it", async () => {
    const { page } = await site.show("/o/input.text")
    await writeJson(page, `{ "name": `)
    await expect
      .poll(async () => {
        const isOff = await button(page, "Run").isDisabled()
        const messageCount = await page
          .getByRole("main")
          .getByText(/JSON|unexpected|expected/i)
          .count()
        return isOff || messageCount > 1
      })
      .toBe(true)
  })

  test("keeps the input of each operation, without mixing them, also over a reload", async () => {
    const { page } = await site.open("/o/input.text")
    await field(page, "name").fill("Ada")
    await openOperation(page, "input.nested")
    await field(page, "city").waitFor()
    await openOperation(page, "input.defaults")
    expect((await run(page)).body.data).toEqual({ got: { greeting: "Hello", times: 3 } })
    await openOperation(page, "input.text")
    await expect.poll(() => field(page, "name").inputValue()).toBe("Ada")
    await page.reload()
    expect((await run(page)).body.data).toEqual({ got: { name: "Ada" } })
    await page.getByRole("tab", { name: "Snippets" }).click()
    await expectShown(page.getByText(`client.input.text({ name: "Ada" })`))
  })

  test("shares an input by a link, and leaves its secrets out", async () => {
    const { page } = await site.open("/o/input.secret")
    await field(page, "user").fill("ada & co")
    await field(page, "password").fill("canary-77aa")
    await button(page, "Copy link").click()
    await expectShown(page.getByText("Left out of the link: /password"))
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(link).not.toContain("canary")
    const other = await site.open(link.slice(link.indexOf("#") + 1))
    await expect.poll(() => field(other.page, "user").inputValue()).toBe("ada & co")
    expect(await field(other.page, "password").inputValue()).toBe("")
    // The address has no input any more: from there on the draft counts.
    await other.page.waitForURL(/#\/o\/input\.secret$/)
    expect(other.requests.filter((url) => url.endsWith("/input.secret")).length).toBe(1)
  })

  test("shows every field that a link brings, and leaves out what only the server sets", async () => {
    const brought = {
      name: "Ada",
      kind: "other",
      made: "smuggled-1",
      extra: "smuggled-2",
      option3: "x",
    }
    const link = `/o/input.many?input=${encodeURIComponent(JSON.stringify(brought))}`
    const { page } = await site.open(link, {})
    const main = page.getByRole("main")
    await expectShown(main.getByText("Filled by a link"))
    const unseen = page.getByRole("region", { name: "Fields that the form does not show" })
    expect(await unseen.textContent()).toBe('/kind: "other"\n/extra: "smuggled-2"')
    await expect.poll(() => field(page, "option3").inputValue()).toBe("x")
    // The draft is the same input: what the form does not show is still named.
    await page.reload()
    await expectShown(unseen.getByText("smuggled-2"))
    await way(page, "JSON").click()
    const json = page.getByLabel("Input as JSON")
    await expect.poll(() => json.textContent()).toContain("smuggled-2")
    expect(await json.textContent()).not.toContain("smuggled-1")
    expect(await unseen.count()).toBe(0)
  })

  test("shows what is required first, folds the rest, and finds a field by its name", async () => {
    const { page } = await site.show("/o/input.many")
    await field(page, "name").fill("Ada")
    const main = page.getByRole("main")
    expect(await main.getByLabel(/^(?:kind|made|option0)/).count()).toBe(0)
    await button(page, "21 optional fields").click()
    await page.getByLabel("Filter the optional fields").fill("either")
    await field(page, "either").fill("7")
    await expectShown(main.locator(".field-description em", { hasText: "name" }))
    // A field that is filled in stays, whatever is filtered.
    await page.getByLabel("Filter the optional fields").fill("option19")
    await field(page, "option19").fill("x")
    const input = { name: "Ada", kind: "many", either: 7, option19: "x" }
    expect((await run(page)).body.data).toEqual({ got: input })
    await field(page, "either").fill("0049")
    expect((await run(page)).body.data).toEqual({ got: { ...input, either: "0049" } })
  })

  test("sends the digits of a large integer as they were typed", async () => {
    const { page } = await site.show("/o/input.large")
    await field(page, "id").fill("9007199254740993")
    await expectShown(page.getByText("The hub takes integers up to 9007199254740991 only."))
    await way(page, "Both").click()
    await expect
      .poll(() => page.getByLabel("Input as JSON").textContent())
      .toContain("9007199254740993")
    const sent = page.waitForRequest((request) => request.method() === "POST")
    await button(page, "Run").click()
    expect((await sent).postData()).toBe('{"id":9007199254740993}')
    await expectShown(result(page).getByText(/The integer 9007199254740993 is beyond/))
  })
})
