import { join } from "node:path"
import type { Page } from "playwright-core"
import { beforeEach, describe, expect, test } from "vitest"
import { seen } from "../../fixtures/console/seen.ts"
import type { HubStats } from "../../../src/hub/activity.ts"
import { sourceOf } from "../../hub/plain.ts"
import { program } from "../../sources/mcp/support/program.ts"
import { root } from "../../support/manifest.ts"
import { waitFor } from "../../support/wait-for.ts"
import { axeFindings } from "./support/axe.ts"
import {
  button,
  cutOff,
  expectQuiet,
  expectShown,
  openOperation,
  result,
  tab,
} from "./support/page.ts"
import { fixtures } from "./support/hub.ts"
import { noBrowser, useConsole } from "./support/site.ts"

const notes = sourceOf("notes", {
  mcp: { command: process.execPath, args: [program(join(root, "demo/notes-server.ts"))] },
})

function question(page: Page) {
  return page.getByRole("region", { name: /^The operation asks/ })
}

beforeEach(() => void seen().events.splice(0))

describe.skipIf(noBrowser)("a running call", () => {
  const site = useConsole(() => [fixtures.operations, fixtures.everything, notes])

  test("shows how far it is, asks, and takes an answer that fits", async () => {
    const opened = await site.show("/o/act.ask")
    const { page } = opened
    await button(page, "Run").click()
    const asked = question(page)
    await expectShown(asked.getByText("Who are you?"))
    await expectShown(result(page).getByText("Looking for a name"))
    const bar = result(page).getByRole("progressbar", { name: "Progress" })
    expect(await bar.evaluate((it: HTMLProgressElement) => [it.value, it.max])).toEqual([1, 4])
    await expectShown(result(page).getByText(/^\d[\d.]* m?s$/))
    expect(await axeFindings(page)).toEqual([])

    // Nothing is sent that does not fit.
    await button(asked, "Send answer").click()
    await asked.locator('input:focus[aria-invalid="true"]').waitFor()
    await asked.getByLabel(/^Your name/).fill("Ada")
    await page.keyboard.press("Control+Enter")
    await asked.waitFor({ state: "hidden" })
    await expectShown(result(page).getByText('"Ada"'))
    await expectShown(result(page).getByText("200", { exact: true }))
    await expectQuiet(opened, site.url)
  })

  test("shows the calls that it makes, and is in History and in Calls once", async () => {
    const { page } = await site.show("/o/act.delegate")
    await button(page, "Run").click()
    const calls = result(page).getByRole("list", { name: "Calls that it makes" })
    await expectShown(calls.getByText("act.ask"))
    await expectShown(calls.getByText("runs"))
    await button(question(page), "Decline").click()
    await expectShown(result(page).getByText('"decline"'))
    await tab(page, "Trace").click()
    const trace = result(page).getByRole("tabpanel", { name: "Trace" })
    for (const id of ["act.delegate", "act.ask", "act.count"])
      await expectShown(trace.getByText(id))
    expect(await axeFindings(page)).toEqual([])

    const stats = await fetch(`${site.url}/hub/stats`)
    const { recent } = (await stats.json()) as HubStats
    const own = recent.filter(({ operationId }) => operationId === "act.delegate")
    expect(own).toMatchObject([{ phase: "end", outcome: "ok" }])
    await page.goto(`${site.url}/#/history`)
    await expectShown(page.getByRole("main").getByText("act.delegate"))
    expect(await page.getByRole("main").getByText("act.delegate").count()).toBe(1)
  })

  test("of the demo's notes asks, and does what the answer says", async () => {
    const { page } = await site.show("/o/notes.clear_notes")
    const runIt = async (): Promise<void> => {
      await button(page, "Run").click()
      await button(page.getByRole("dialog"), "Run it").click()
    }
    // It is destructive: nothing happens before one says so.
    await button(page, "Run").click()
    await expectShown(page.getByRole("dialog").getByText(/cannot be undone/))
    // Who presses Enter twice has not confirmed it.
    expect(await page.locator(":focus").textContent()).toBe("Do not run")
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("Control+Enter")
    // Enter twice must not run it.
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor({ state: "hidden" })
    await expectShown(result(page).getByText("No result yet"))
    await runIt()
    await expectShown(question(page).getByText("There are 2 notes."))
    await button(question(page), "Decline").click()
    await expectShown(result(page).getByText("0 notes are gone."))

    await runIt()
    await question(page).getByLabel(/^sure/).check()
    await button(question(page), "Send answer").click()
    await expectShown(result(page).getByText("2 notes are gone."))
  })

  test("of an older MCP server asks for data, and for the answer of a model", async () => {
    const { page } = await site.show("/o/everything.trigger-elicitation-request")
    await button(page, "Run").click()
    await button(question(page), "Decline").click()
    await expectShown(result(page).getByText(/User declined/))
    // Several values at once: one field of the form has all of them, also in a narrow window.
    await button(page, "Run").click()
    await question(page)
      .getByLabel(/^String/)
      .first()
      .fill("Ada")
    const several = question(page).getByRole("listbox", { name: /^Untitled Multiple/ })
    await several.selectOption(["Guitar", "Drums"])
    for (const width of [768, 390]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await cutOff(page)).toEqual([])
    }
    await button(question(page), "Send answer").click()
    await expectShown(
      result(page)
        .getByText(/Guitar[^]*Drums/)
        .first(),
    )

    await openOperation(page, "everything.trigger-sampling-request")
    await page.getByLabel(/^prompt/).fill("What is the answer?")
    await button(page, "Run").click()
    const asked = page.getByRole("region", { name: "The operation asks a language model" })
    await asked
      .getByLabel(/^Answer/)
      .and(asked.locator("input, textarea"))
      .fill("Forty-two.")
    await button(asked, "Send answer").click()
    await expectShown(result(page).getByText(/Forty-two\./))
  })

  test("shows what an MCP server logs during the call, also when it is over", async () => {
    const { page } = await site.show("/o/everything.toggle-simulated-logging")
    await button(page, "Run").click()
    const log = page.getByRole("region", { name: "Log of everything.toggle-simulated-logging" })
    await expectShown(log.getByText(/^\w+: \w+[ -]level[ -]message/))
    await expectShown(result(page).getByText("200", { exact: true }))
    expect(await axeFindings(page)).toEqual([])
    // The next call begins with an empty log, and ends the messages.
    await button(page, "Run").click()
    await expectShown(result(page).getByText(/Stopped/))
    await log.waitFor({ state: "hidden" })

    await page.goto(`${site.url}/#/sources`)
    const source = page.getByRole("article", { name: "Source everything" })
    await button(source, "Details").click()
    await expectShown(source.getByText(/The hub does not keep it/))
    await waitFor(async () => {
      await fetch(`${site.url}/operations/everything.toggle-simulated-logging`, { method: "POST" })
      const lines = source.getByRole("region", { name: "Log of everything" })
      expect(await lines.textContent()).toMatch(/level[ -]message/)
    })
    expect(await axeFindings(page)).toEqual([])
  })

  test("gives results of megabytes", async () => {
    const { page } = await site.show("/o/act.huge")
    await button(page, "Run").click()
    await expectShown(result(page).getByText("200", { exact: true }))
  })

  test("that waits for an answer is cancelled, and ends when its page is left", async () => {
    const { page } = await site.show("/o/act.ask")
    await button(page, "Run").click()
    await question(page).waitFor()
    await button(page, "Cancel").click()
    await waitFor(() => expect(seen().events).toEqual(["ask stopped"]))
    await question(page).waitFor({ state: "hidden" })
    await expectShown(result(page).getByText("cancelled"))

    await button(page, "Run").click()
    await question(page).waitFor()
    await page.goto("about:blank")
    await waitFor(() => expect(seen().events).toEqual(["ask stopped", "ask stopped"]))
  })
})

describe.skipIf(noBrowser)("a running call without a WebSocket", () => {
  const site = useConsole(() => [fixtures.operations], { websocket: false })

  test("goes over HTTP, and says that nobody could be asked", async () => {
    const { page } = await site.open("/o/act.ask")
    await button(page, "Run").click()
    await expectShown(result(page).getByText(/cannot be asked/))
    await expectShown(result(page).getByText(/There is no WebSocket to the hub/))
  })
})
