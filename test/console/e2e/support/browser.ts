import { chromium } from "playwright-core"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { UNUSED_WEB_UI } from "../../../support/browser.ts"
import { PATIENCE } from "../../../support/patience.ts"

/** A page, and all that it did which a person would not see. */
export interface Opened {
  readonly page: Page
  /** Uncaught errors, and what was written with `console.error`. */
  readonly faults: string[]
  /** Directives of the policy that something in the page went against. */
  readonly violations: string[]
  /** Addresses of everything that was asked for. */
  readonly requests: string[]
  /** What was sent over WebSockets. */
  readonly frames: string[]
  close(): Promise<void>
}

/** What Playwright switches off in Chromium; repeated because the browser reads only the last list of features. */
const SWITCHED_OFF = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "OptimizationHints",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
]

/** Starts the system's Chromium. Whoever launched it closes it. */
export async function launch(executablePath: string): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    headless: true,
    // Chromium's sandbox refuses to run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-gpu",
      `--disable-features=${[...SWITCHED_OFF, ...UNUSED_WEB_UI].join(",")}`,
    ],
  })
}

const VIEWPORT = { width: 1280, height: 800 }

const frameListeners = new WeakMap<Page, ((payload: string) => void)[]>()

/** Calls back with everything that arrives over WebSockets of a page. */
export function onFrame(page: Page, listener: (payload: string) => void): void {
  frameListeners.set(page, [...(frameListeners.get(page) ?? []), listener])
}

/** Opens a page in a browser session of its own: nothing is kept from other pages. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({
    viewport: VIEWPORT,
    reducedMotion: "reduce",
    ...options,
  })
  context.setDefaultTimeout(PATIENCE)
  await context.grantPermissions(["clipboard-read", "clipboard-write"])
  const page = await context.newPage()
  const faults: string[] = []
  const violations: string[] = []
  const requests: string[] = []
  const frames: string[] = []
  page.on("pageerror", (error) => faults.push(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text())
  })
  page.on("websocket", (socket) => {
    requests.push(socket.url().replace(/^ws/, "http"))
    socket.on("framesent", ({ payload }) => frames.push(String(payload)))
    socket.on("framereceived", ({ payload }) => {
      for (const listener of frameListeners.get(page) ?? []) listener(String(payload))
    })
  })
  page.on("request", (request) => requests.push(request.url()))
  await context.exposeFunction("reportViolation", (text: string) => violations.push(text))
  await context.addInitScript(() => {
    const place = globalThis as unknown as { reportViolation(text: string): void }
    document.addEventListener("securitypolicyviolation", (event) => {
      const { violatedDirective, blockedURI, sample, sourceFile, lineNumber, columnNumber } = event
      place.reportViolation(
        `${violatedDirective} ${blockedURI} ${sample} at ${sourceFile}:${lineNumber}:${columnNumber}`,
      )
    })
  })
  await page.goto(url)
  return { page, faults, violations, requests, frames, close: () => context.close() }
}

/** Loads a page of `openPage` again, at another address, as if nothing had ever happened in it. */
export async function reloadAt(opened: Opened, url: string): Promise<void> {
  await prepare(opened)
  await opened.page.emulateMedia({ colorScheme: "light" })
  await opened.page.evaluate((to) => {
    localStorage.clear()
    sessionStorage.clear()
    history.replaceState(null, "", to)
  }, url)
  await opened.page.reload()
}

/** Moves a page of `openPage` to another address, as its links do. What it showed there before is not kept. */
export async function moveTo(opened: Opened, url: string): Promise<void> {
  await prepare(opened)
  await opened.page.evaluate(async (to) => {
    const go = (hash: string): Promise<void> =>
      new Promise((resolve) => {
        // The console draws when this event tells it to.
        addEventListener("hashchange", () => setTimeout(resolve), { once: true })
        location.hash = hash
      })
    // What runs, and the results of earlier calls, are forgotten with the page.
    dispatchEvent(new Event("pagehide"))
    const { hash } = new URL(to)
    const [view] = hash.split("?")
    if (location.hash.split("?")[0] === view) await go(view === "#/history" ? "#/" : "#/history")
    await go(hash)
  }, url)
}

async function prepare({ page, faults, violations, requests, frames }: Opened): Promise<void> {
  frameListeners.delete(page)
  for (const list of [faults, violations, requests, frames]) list.splice(0)
  await page.unrouteAll()
  for (const other of page.context().pages()) if (other !== page) await other.close()
  if (page.viewportSize()?.width !== VIEWPORT.width) await page.setViewportSize(VIEWPORT)
}
