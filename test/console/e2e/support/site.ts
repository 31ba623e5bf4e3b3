import type { Browser, BrowserContextOptions } from "playwright-core"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import type { ServerConfig, ResolvedSource } from "../../../../src/config/model.ts"
import type { HubOptions } from "../../../../src/hub/model.ts"
import { CHROMIUM, provideProgram } from "../../../support/programs.ts"
import { launch, moveTo, openPage, reloadAt } from "./browser.ts"
import type { Opened } from "./browser.ts"
import { startHub } from "./hub.ts"
import type { TestHub } from "./hub.ts"

/** A console to test: a hub, and a browser that shows it. */
export interface Site {
  readonly url: string
  readonly hub: TestHub["hub"]
  /**
   * A page that nothing has happened in, with empty storage, until its test ends; `path` is what follows the `#`.
   *
   * With options, or when the test has one already, it is a new one; otherwise the site's own, loaded again.
   */
  open(path?: string, options?: BrowserContextOptions): Promise<Opened>
  /** The site's own page, at another address, with all that earlier tests left in it: what is kept must not matter. */
  show(path?: string): Promise<Opened>
}

/** The browser of these tests; `undefined` where there is none. */
export const chromiumPath: string | undefined = provideProgram(CHROMIUM)

export const noBrowser: boolean = chromiumPath === undefined

/** One hub and one browser for the tests of a `describe` or of a file. */
export function useConsole(
  sources: () => readonly ResolvedSource[],
  server: ServerConfig = {},
  hubOptions: HubOptions = {},
): Site {
  let served: TestHub | undefined
  let browser: Browser | undefined
  /** The site's own page, when no test uses it. */
  let free: Opened | undefined
  beforeAll(async () => {
    served = await startHub(sources(), server, hubOptions)
    browser = await launch(chromiumPath as string)
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await served?.[Symbol.asyncDispose]()
  })

  async function use(
    path: string,
    move: typeof moveTo,
    options?: BrowserContextOptions,
  ): Promise<Opened> {
    const url = `${(served as TestHub).url}/#${path}`
    const kept = options === undefined ? free : undefined
    if (kept !== undefined) {
      free = undefined
      await move(kept, url)
    }
    const opened = kept ?? (await openPage(browser as Browser, url, options))
    onTestFinished(async ({ task }) => {
      // A page in which something went wrong, or that is elsewhere, tells nothing about the next test.
      const isGood = options === undefined && free === undefined && task.result?.state === "pass"
      const [address] = opened.page.url().split(/[?#]/)
      const isHere = !opened.page.isClosed() && address === `${(served as TestHub).url}/`
      if (isGood && isHere) free = opened
      else await opened.close()
    })
    return opened
  }
  return {
    get url() {
      return (served as TestHub).url
    },
    get hub() {
      return (served as TestHub).hub
    },
    open: (path = "/", options) => use(path, reloadAt, options),
    show: (path = "/") => use(path, moveTo),
  }
}
