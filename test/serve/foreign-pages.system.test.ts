import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ConsoleFiles } from "../../src/hub/console-files.ts"
import { defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { serveHTTP } from "../../src/node.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import type { AnyRegistry } from "../../src/engine/registry.ts"
import { launchBrowser } from "../support/browser.ts"
import type { Browser, Page } from "../support/browser.ts"
import { CHROMIUM, provideProgram } from "../support/programs.ts"
import { waitFor } from "../support/wait-for.ts"
import { base } from "./http/support.ts"

const PAGE = "<!doctype html><link rel=icon href=data:,><title>page</title>"

/** Ways in which a page makes its visitor's browser send a GET elsewhere. */
const VECTORS: Readonly<Record<string, (url: string) => string>> = {
  frame: (url) => element("iframe", "src", url),
  image: (url) => element("img", "src", url),
  script: (url) => element("script", "src", url),
  object: (url) => element("object", "data", url),
  stylesheet: (url) => `document.head.append(Object.assign(document.createElement("link"),
    { rel: "stylesheet", href: ${JSON.stringify(url)} }))`,
  "a window": (url) => `void window.open(${JSON.stringify(url)})`,
  "a form": (url) => `{
    const frame = Object.assign(document.createElement("iframe"), { name: "f" + Math.random() })
    const { origin, pathname, searchParams } = new URL(${JSON.stringify(url)})
    const form = Object.assign(document.createElement("form"),
      { action: origin + pathname, target: frame.name })
    for (const [name, value] of searchParams) {
      form.append(Object.assign(document.createElement("input"), { name, value }))
    }
    document.body.append(frame, form)
    form.submit()
  }`,
  "fetch without CORS": (url) =>
    `void fetch(${JSON.stringify(url)}, { mode: "no-cors" }).catch(() => 0)`,
  fetch: (url) => `void fetch(${JSON.stringify(url)}).catch(() => 0)`,
  events: (url) => `void new EventSource(${JSON.stringify(url)})`,
  "a link": (url) => `void (location.href = ${JSON.stringify(url)})`,
}

function element(tag: string, attribute: string, url: string): string {
  return `document.body.append(Object.assign(document.createElement("${tag}"),
    { ${attribute}: ${JSON.stringify(url)} }))`
}

const chromium = provideProgram(CHROMIUM)

describe.skipIf(chromium === undefined)("a server without authentication, in Chromium", () => {
  let browser: Browser
  let runs = 0
  const answered = new Map<string, number>()
  const site = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(PAGE)
  })
  const friend = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(PAGE)
  })
  const server = createServer((request, response) => {
    response.on("finish", () => answered.set(request.url ?? "", response.statusCode))
  })
  const portOf = (one: Server): number => (one.address() as AddressInfo).port
  const cleanups: (() => unknown)[] = []
  const api = (path: string): string => `http://127.0.0.1:${portOf(server)}${path}`

  beforeAll(async () => {
    for (const one of [site, friend, server]) {
      await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve))
      cleanups.push(() => {
        one.closeAllConnections()
        one.close()
      })
    }
    const count = (): number => ++runs
    const registry = createRegistry([
      defineOperation({ ...base, name: "secret", type: "query", handler: count }),
      defineOperation({
        ...base,
        name: "secrets",
        type: "subscription",
        async *handler() {
          yield count()
        },
      }),
    ]) as unknown as AnyRegistry
    const console = mkdtempSync(join(tmpdir(), "operations-console-"))
    cleanups.push(() => rmSync(console, { recursive: true }))
    writeFileSync(join(console, "index.html"), PAGE)
    const served = await serveHTTP(registry, {
      server,
      files: new ConsoleFiles({ basePath: "", folder: console }),
      cors: { origins: [`http://127.0.0.1:${portOf(friend)}`] },
      logger: silentLogger,
    })
    cleanups.push(() => served.close())
    browser = await launchBrowser(chromium as string)
  })

  afterAll(async () => {
    await browser?.close()
    for (const cleanup of cleanups.toReversed()) await cleanup()
  })

  const targets = ["/api/demo/secret", "/operations/demo.secrets", "/operations", "/openapi.json"]

  // Another port of this address is the same site, and another origin; a name is another site.
  test.each(["127.0.0.1", "localhost"])(
    "pages of %s run nothing and read nothing",
    async (host) => {
      const open = (): Promise<Page> => browser.open(`http://${host}:${portOf(site)}/`)
      const page = await open()
      for (const [vector, attack] of Object.entries(VECTORS)) {
        for (const target of targets) {
          const path = `${target}?v=${encodeURIComponent(vector)}&from=${host}`
          const from = vector === "a link" ? await open() : page
          // As if the user had clicked: otherwise no window opens.
          const expression = attack(api(path))
          await from.send("Runtime.evaluate", { expression, userGesture: true })
          await waitFor(() => {
            // Forms write spaces as "+".
            const status = answered.get(path) ?? answered.get(path.replaceAll("%20", "+"))
            expect([path, status]).toEqual([path, 403])
          })
        }
      }
      expect(runs).toBe(0)
    },
  )

  test("pages of others can link to the console", async () => {
    const page = await browser.open(`http://localhost:${portOf(site)}/`)
    await page.evaluate(`void (location.href = ${JSON.stringify(api("/?linked"))})`)
    await waitFor(() => expect(answered.get("/?linked")).toBe(200))
  })

  test("its own page, an allowed origin and the address bar get answers", async () => {
    const before = runs
    const read = `fetch(${JSON.stringify(api("/api/demo/secret"))}).then((answer) => answer.json())`
    const own = await browser.open(api("/"))
    expect(await own.evaluate(read)).toBe(before + 1)
    const allowed = await browser.open(`http://127.0.0.1:${portOf(friend)}/`)
    expect(await allowed.evaluate(read)).toBe(before + 2)
    const typed = await browser.open(api("/api/demo/secret"))
    expect(await typed.evaluate("document.body.textContent")).toContain(String(before + 3))
    // Without an origin nobody can tell an allowed page from another.
    const framed = api("/api/demo/secret?framed")
    await allowed.evaluate(element("iframe", "src", framed))
    await waitFor(() => expect(answered.get("/api/demo/secret?framed")).toBe(403))
  })
})
