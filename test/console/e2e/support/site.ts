import type { Browser, BrowserContextOptions } from "playwright-core"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import type { ServerConfig, ResolvedSource } from "../../../../src/config/model.ts"
import type { HubOptions } from "../../../../src/hub/model.ts"
import { provideChromium } from "../../../support/chromium.ts"
import { launch, openPage } from "./browser.ts"
import type { Opened } from "./browser.ts"
import { startHub } from "./hub.ts"
import type { TestHub } from "./hub.ts"

/** A console to test: a hub, and a browser that shows it. */
export interface Site {
  readonly url: string
  readonly hub: TestHub["hub"]
  /** A new page that ends with its test; `path` is what follows the `#`. */
  open(path?: string, options?: BrowserContextOptions): Promise<Opened>
}

const chromium = await provideChromium()

export const noBrowser: boolean = chromium.path === undefined

/** One hub and one browser for the tests of a `describe`. */
export function useConsole(
  sources: () => readonly ResolvedSource[],
  server: ServerConfig = {},
  hubOptions: HubOptions = {},
): Site {
  let served: TestHub | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    served = await startHub(sources(), server, hubOptions)
    browser = await launch(chromium.path as string)
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await served?.[Symbol.asyncDispose]()
  })
  return {
    get url() {
      return (served as TestHub).url
    },
    get hub() {
      return (served as TestHub).hub
    },
    async open(path = "/", options = {}) {
      const opened = await openPage(browser as Browser, `${this.url}/#${path}`, options)
      onTestFinished(() => opened.close())
      return opened
    },
  }
}
