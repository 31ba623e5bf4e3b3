import type { Locator, Page } from "playwright-core"
import { expect } from "vitest"
import { ERROR_CODES } from "../../../../src/core/errors.ts"
import type { ErrorCode } from "../../../../src/core/errors.ts"
import type { CallEvent } from "../../../../src/core/events.ts"
import { onFrame } from "./browser.ts"

// What a person does in the console, in the words that the page itself uses.

/** Opens an operation by its address, and waits until it is shown. */
export async function openOperation(page: Page, id: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = `#/o/${encodeURIComponent(to)}`
  }, id)
  await page.getByRole("main").getByText(id, { exact: true }).first().waitFor()
}

export function search(page: Page): Locator {
  return page.getByLabel("Search operations")
}

/** An operation in the list, whether its line has the whole id or only its name within a group. */
export function listed(page: Page, id: string): Locator {
  return page.getByRole("treeitem").and(page.getByTitle(id, { exact: true }))
}

export function tab(page: Page, name: string): Locator {
  return page.getByRole("tab", { name, exact: true })
}

export function button(page: Page | Locator, name: string | RegExp): Locator {
  return page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name })
}

/** Passes when one of these can be seen. */
export async function expectShown(locator: Locator): Promise<void> {
  await locator.filter({ visible: true }).first().waitFor()
}

/** A field of the form; its type, and whether it is required, follow its name. */
export function field(page: Page, name: string): Locator {
  const labelled = page.getByRole("main").getByLabel(new RegExp(`^${name}`))
  return labelled.and(page.locator("input, select, textarea"))
}

export function result(page: Page): Locator {
  return page.getByRole("region", { name: "Result" })
}

/** How the input is given: "Form", "JSON" or "Both". */
export function way(page: Page, name: "Form" | "JSON" | "Both"): Locator {
  return button(page.getByRole("group", { name: "Input view" }), name)
}

/** Types JSON into the editor, in place of what is there. */
export async function writeJson(page: Page, value: unknown): Promise<void> {
  await way(page, "JSON").click()
  const editor = page.getByLabel("Input as JSON")
  await editor.waitFor()
  await editor.click()
  await page.keyboard.press("ControlOrMeta+a")
  // Text put in place of a selection gets an inline style of its looks, by Chromium itself.
  await page.keyboard.press("Backspace")
  // As pasted: an editor would add brackets of its own to what is typed.
  await page.keyboard.insertText(typeof value === "string" ? value : JSON.stringify(value))
}

/** Runs, and gives the envelope's data as it came over the wire: over HTTP, or over a WebSocket. */
export async function run(
  page: Page,
  pressed: Locator = button(page, "Run"),
): Promise<{ status: number; body: Answer }> {
  const [answer] = await Promise.all([
    Promise.race([overHTTP(page), overSocket(page)]),
    pressed.click(),
  ])
  return answer
}

async function overHTTP(page: Page): Promise<{ status: number; body: Answer }> {
  const response = await page.waitForResponse((answer) => {
    const isCall = /\/operations\/[^/]+$/.test(new URL(answer.url()).pathname)
    return isCall && answer.request().method() === "POST"
  })
  return { status: response.status(), body: (await response.json()) as Answer }
}

function overSocket(page: Page): Promise<{ status: number; body: Answer }> {
  return new Promise((resolve) => {
    onFrame(page, (payload) => {
      for (const event of [JSON.parse(payload) as CallEvent | CallEvent[]].flat()) {
        if (event.type === "call.responded") resolve({ status: 200, body: event.output })
        else if (event.type === "call.error") {
          const { httpStatus } = ERROR_CODES[event.code as ErrorCode] ?? { httpStatus: 422 }
          resolve({ status: httpStatus, body: event })
        }
      }
    })
  })
}

export interface Answer {
  readonly data?: unknown
  readonly code?: string
}

/** What is kept in the browser beyond this page. */
export async function storedText(page: Page): Promise<string> {
  return await page.evaluate(async () => {
    const databases = (await indexedDB.databases?.()) ?? []
    return JSON.stringify([
      Object.entries(localStorage),
      Object.entries(sessionStorage),
      document.cookie,
      databases.map(({ name }) => name),
    ])
  })
}

/** Presses Tab until what has the focus is called so. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let step = 0; step < 150; step++) {
    await page.keyboard.press("Tab")
    const focused = page.locator(":focus")
    const at = await focused.evaluate((it) => {
      const { labels } = it as HTMLInputElement
      return it.getAttribute("aria-label") ?? labels?.[0]?.textContent ?? it.textContent ?? ""
    })
    if (typeof name === "string" ? at.trim() === name : name.test(at.trim())) return
  }
  throw new Error(`The focus never came to ${String(name)}.`)
}

/** Nothing ran that should not, nothing was asked of anyone else, nothing went uncaught. */
export async function expectQuiet(
  { page, violations, requests, faults }: Quiet,
  url: string,
): Promise<void> {
  const { pwned, polluted } = await page.evaluate(() => ({
    pwned: Reflect.get(globalThis, "__pwned") as unknown,
    polluted: Reflect.get({}, "polluted") as unknown,
  }))
  expect([pwned, polluted]).toEqual([undefined, undefined])
  const { origin } = new URL(url)
  expect(requests.filter((to) => !to.startsWith(origin) && !/^(?:data|blob):/.test(to))).toEqual([])
  expect(violations).toEqual([])
  expect(faults.filter((fault) => !EXPECTED_FAULTS.test(fault))).toEqual([])
}

/**
 * Reports of the browser that something was refused. What a sandboxed frame tried is among them; `violations` has what the
 * page itself tried.
 */
const EXPECTED_FAULTS =
  /^(?:Failed to load resource|Blocked script execution in 'about:srcdoc')|violates the following Content Security Policy directive/

interface Quiet {
  readonly page: Page
  readonly violations: readonly string[]
  readonly requests: readonly string[]
  readonly faults: readonly string[]
}

/** What is cut off at the side with neither an ellipsis nor a way to scroll to it, and what makes the page wider than its window. */
export async function cutOff(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const found: string[] = []
    const { clientWidth } = document.documentElement
    for (const it of document.querySelectorAll<HTMLElement>("body *")) {
      const { overflowX, textOverflow, clip, clipPath, position } = getComputedStyle(it)
      const { width, right, left } = it.getBoundingClientRect()
      if (width <= 1 || clip !== "auto" || clipPath !== "none" || !it.checkVisibility()) continue
      const hides = overflowX === "hidden" || overflowX === "clip"
      const isCut = hides && textOverflow !== "ellipsis" && it.scrollWidth > it.clientWidth + 1
      // What scrolls or is cut has been looked at itself.
      let holder = it.parentElement
      while (holder !== null && getComputedStyle(holder).overflowX === "visible") {
        holder = holder.parentElement
      }
      const isOutside = holder === null && (right > clientWidth + 1 || left < -1)
      if (!isCut && !(isOutside && position !== "fixed")) continue
      found.push(`${it.tagName}.${it.className} ${it.textContent.trim().slice(0, 40)}`)
    }
    return found
  })
}
