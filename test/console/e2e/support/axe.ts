import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"
import { expect } from "vitest"

interface AxeResult {
  readonly id: string
  readonly nodes: readonly {
    readonly target: readonly unknown[]
    readonly failureSummary?: string
  }[]
}

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Waits until nothing changes for a moment: axe cannot look at what is being replaced. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      observer.disconnect()
      resolve()
    }
    let timer = setTimeout(done, 300)
    const observer = new MutationObserver(() => {
      clearTimeout(timer)
      timer = setTimeout(done, 300)
    })
    observer.observe(document, { childList: true, subtree: true, attributes: true })
  })
}

/** Where colours are looked at: the list of operations, most of a page, has the same ones beside every view. */
type ColorsOf = "whole page" | "all but the list"

/** The rules whose result depends on colours. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"]

/**
 * What axe finds in a page, in words: in its theme, and what depends on colours in the other one, too.
 *
 * The page keeps the other theme: with each call both are looked at, and each costs a style of every element.
 */
export async function axeFindings(
  page: Page,
  colorsOf: ColorsOf = "all but the list",
): Promise<string[]> {
  const theme = (): Promise<string | undefined> =>
    page.evaluate(() => document.documentElement.dataset["theme"])
  const first = await theme()
  const other = first === "dark" ? "light" : "dark"
  const found = await findings(page, "all", colorsOf)
  await page.emulateMedia({ colorScheme: other })
  await expect.poll(theme).toBe(other)
  return [
    ...found.map((finding) => `${first}: ${finding}`),
    ...(await findings(page, "colors", colorsOf)).map((finding) => `${other}: ${finding}`),
  ]
}

/** What axe finds twice, in words: a badge that changes while axe looks can have the colours of two states. */
async function findings(page: Page, part: "all" | "colors", colorsOf: ColorsOf): Promise<string[]> {
  const found = await look(page, part, colorsOf)
  if (found.length === 0) return found
  const again = await look(page, part, colorsOf)
  return found.filter((finding) => again.includes(finding))
}

/** What axe finds, in words; `colors` where only those have changed since it looked. */
async function look(page: Page, part: "all" | "colors", colorsOf: ColorsOf): Promise<string[]> {
  await page.evaluate(settle)
  // By the debugger, which the page's policy does not bind.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source)
  const options = {
    resultTypes: ["violations"],
    ...(part === "colors" && { runOnly: { type: "rule", values: COLOR_RULES } }),
  }
  const selector = colorsOf === "whole page" ? "*" : ":not(.side *)"
  const configuration = { rules: [{ id: "color-contrast", selector }] }
  const violations = (await page.evaluate(
    `axe.configure(${JSON.stringify(configuration)}), axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as AxeResult[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
  )
}
