/**
 * Takes the screenshots in docs/images: the console of the demo hub, in light and dark; all of them, or those
 * named.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { chromium } from "playwright-core"
import type { Browser, Page } from "playwright-core"
import { loadConfig } from "../../src/hub/config-file/load.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { builtConsole } from "../../test/console/e2e/support/build.ts"
import { CHROMIUM, findProgram, missing } from "../../test/support/programs.ts"

interface Shot {
  readonly name: string
  readonly path: string
  /** Default: 1280. */
  readonly width?: number
  readonly prepare: (page: Page) => Promise<unknown>
}

const root = resolve(import.meta.dirname, "../..")
const images = join(root, "docs/images")

const ORDER = {
  body: {
    customer: { name: "Ada Lovelace", email: "ada@example.com" },
    items: [
      { sku: "yirgacheffe", quantity: 2 },
      { sku: "mug", quantity: 1 },
    ],
  },
}

const SHOTS: readonly Shot[] = [
  {
    name: "find",
    path: "/",
    prepare: async (page) => {
      await page.getByLabel("Search operations").fill("order")
      await page.getByTitle("shop.orders.create").first().waitFor()
    },
  },
  {
    name: "palette",
    path: "/",
    prepare: async (page) => {
      await page.getByTitle("shop.orders.create").first().waitFor()
      await page.keyboard.press("Control+K")
      await page.getByRole("combobox", { name: "Search everything" }).fill("order")
      await page.getByRole("option").filter({ hasText: "POST /orders" }).first().waitFor()
    },
  },
  {
    name: "operation",
    path: "/o/shop.orders.create",
    prepare: (page) => page.getByRole("tab", { name: "Schema" }).click(),
  },
  {
    name: "try",
    path: "/o/shop.orders.create",
    width: 1440,
    prepare: async (page) => {
      // Room for both beside each other.
      await page.evaluate(() => localStorage.setItem("operations.split", "75"))
      await page.reload()
      await writeJson(page, ORDER)
      await choose(page, "Both")
    },
  },
  {
    name: "result",
    path: "/o/shop.products.list",
    prepare: async (page) => {
      await page.getByRole("button", { name: "Run", exact: true }).click()
      await page.getByRole("tab", { name: "Table", exact: true }).click()
      await page.getByRole("region", { name: "Result" }).scrollIntoViewIfNeeded()
    },
  },
  {
    name: "watch",
    path: "/o/market.prices",
    prepare: async (page) => {
      await writeJson(page, { symbol: "BEAN", every: 40 })
      await choose(page, "Form")
      await page.getByRole("button", { name: /^Start/ }).click()
      // Enough of them for a line.
      await page.waitForTimeout(4000)
      await page
        .getByRole("tab", { name: "Watch" })
        .evaluate((it) => it.scrollIntoView({ block: "start" }))
    },
  },
  {
    name: "calls",
    path: "/calls",
    prepare: async (page) => {
      await call(page, "desk.restock", { below: 5 })
      await call(page, "shop.products.get", { sku: "none" })
      await call(page, "money.split", { cents: 4380, people: [{ name: "Ada" }] })
      await call(page, "desk.restock", { below: 20 })
      await page.getByText("desk.restock").first().waitFor()
      await page.waitForTimeout(2500)
    },
  },
  {
    name: "sources",
    path: "/sources",
    prepare: async (page) => {
      await page.getByText("notes").first().waitFor()
      await page
        .getByRole("button", { name: /report/i })
        .nth(1)
        .click()
    },
  },
]

const names = process.argv.slice(2)
const shots = SHOTS.filter(({ name }) => names.length === 0 || names.includes(name))
const executablePath = findProgram(CHROMIUM)
if (executablePath === undefined) throw new Error(missing(CHROMIUM))
mkdirSync(images, { recursive: true })
const hub = createHub(await loadConfig(join(root, "demo/operations.config.ts")), {
  logger: silentLogger,
})
try {
  await hub.ready()
  const served = await serveHub(hub, { port: 0, console: await builtConsole(), drainMs: 100 })
  const browser = await chromium.launch({
    executablePath,
    chromiumSandbox: process.getuid?.() !== 0,
  })
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const shot of shots) await take(browser, served.url, shot, colorScheme)
    }
  } finally {
    await browser.close()
    await served.close()
  }
} finally {
  await hub.close()
}

async function take(
  browser: Browser,
  url: string,
  { name, path, width = 1280, prepare }: Shot,
  colorScheme: "light" | "dark",
): Promise<void> {
  const viewport = { width, height: 800 }
  const page = await browser.newPage({ colorScheme, viewport, reducedMotion: "reduce" })
  await page.goto(`${url}/#${path}`)
  await prepare(page)
  // What was opened has been fetched and painted, and no pointer hovers over it.
  await page.mouse.move(0, 799)
  await page.waitForTimeout(500)
  const file = await page.screenshot()
  writeFileSync(join(images, `${name}-${colorScheme}.png`), file)
  console.log(`docs/images/${name}-${colorScheme}.png ${(file.length / 1024).toFixed(0)} KB`)
  await page.close()
}

async function choose(page: Page, way: string): Promise<void> {
  const ways = page.getByRole("group", { name: "Input view" })
  await ways.getByRole("button", { name: way, exact: true }).click()
}

async function writeJson(page: Page, value: unknown): Promise<void> {
  await choose(page, "JSON")
  await page.getByLabel("Input as JSON").click()
  await page.keyboard.press("ControlOrMeta+a")
  await page.keyboard.insertText(JSON.stringify(value, null, 2))
}

/** Makes a call like another program; its outcome does not matter. */
async function call(page: Page, id: string, input: unknown): Promise<void> {
  await page.evaluate(
    async ([to, body]) => {
      const headers = { "content-type": "application/json" }
      await fetch(`./operations/${to}`, { method: "POST", headers, body: body as string })
    },
    [id, JSON.stringify(input)],
  )
}
