import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { serveWebSocket } from "../../src/websocket.ts"
import type { ServedWebSocket } from "../../src/websocket.ts"
import { createTasks, seen } from "../fixtures/tanstack-query/operations.ts"
import { launchBrowser } from "../support/browser.ts"
import type { Browser, Page } from "../support/browser.ts"
import { CHROMIUM, provideProgram } from "../support/programs.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

async function bundle(file: URL): Promise<{ text: string; files: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(file)],
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  })
  return { text: outputFiles[0]?.text ?? "", files: Object.keys(metafile.inputs) }
}

describe("the entry for TanStack Query", () => {
  test("is small, and contains no package", async () => {
    const { text, files } = await bundle(new URL("../../src/tanstack-query.ts", import.meta.url))
    expect(files.filter((file) => file.includes("node_modules"))).toEqual([])
    expect(gzipSync(text).length).toBeLessThan(4 * 1024)
  })
})

const chromium = provideProgram(CHROMIUM)

describe.skipIf(chromium === undefined)("TanStack Query in Chromium", () => {
  let server: Server
  let calls: ServedWebSocket
  let browser: Browser
  let page: Page

  const shown = (id: string): Promise<unknown> =>
    page.evaluate(`document.getElementById(${JSON.stringify(id)})?.textContent`)
  const click = (id: string): Promise<unknown> =>
    page.evaluate(`document.getElementById(${JSON.stringify(id)}).click()`)

  beforeAll(async () => {
    const { text } = await bundle(new URL("../fixtures/tanstack-query/page.ts", import.meta.url))
    const html = `<!doctype html><link rel=icon href=data:,><body><script type=module src=/page.js></script>`
    server = createServer(({ url }, response) => {
      const isScript = url === "/page.js"
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html")
      response.end(isScript ? text : html)
    })
    calls = await serveWebSocket(createTasks(), { server, path: "/calls" })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    browser = await launchBrowser(chromium as string)
    page = await browser.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  })

  afterAll(async () => {
    await browser?.close()
    await calls?.close()
    server?.close()
  })

  test("useQuery gets the data of an operation, and selects from it", async () => {
    await expect.poll(() => shown("list")).toBe("Milk")
    // Data that is not there is null: TanStack Query takes `undefined` for a mistake.
    await expect.poll(() => shown("nothing")).toBe("null")
  })

  test("useInfiniteQuery follows the pages to the last one", async () => {
    await expect.poll(() => shown("pages")).toBe("[[1,2]]")
    await click("next")
    await expect.poll(() => shown("pages")).toBe("[[1,2],[3,4]]")
    await click("next")
    await expect.poll(() => shown("pages")).toBe("[[1,2],[3,4],[5,6]]")
    expect(await shown("more")).toBe("false")
  })

  test("useMutation gets the result, and the key of an operation invalidates its queries", async () => {
    await click("create")
    await expect.poll(() => shown("created")).toBe("Mint")
    await expect.poll(() => shown("list")).toBe("Milk,Mint")
  })

  test("a failed mutation has a CallError with its code and details", async () => {
    await click("fail")
    await expect.poll(() => shown("error")).toBe('FULL {"limit":3}')
  })

  test("another input is another query", async () => {
    await click("narrow")
    await expect.poll(() => shown("list")).toBe("Milk")
    expect(seen.calls).toContain("list Mil")
  })

  test("a stream shows its items while they arrive, the last ones if there is a limit", async () => {
    await expect.poll(() => shown("stream")).toBe('[[3,4,5],"idle"]')
    await expect.poll(() => shown("endless")).toBe('[[3,4,5],"fetching"]')
  })

  test("a component that is removed aborts its query and its stream", async () => {
    await expect.poll(() => shown("slow")).toBe("fetching")
    expect(seen.stopped.filter((name) => name === "slow")).toEqual([])
    const before = seen.stopped.length
    await click("leave")
    await expect.poll(() => seen.stopped.length).toBe(before + 2)
    expect(seen.stopped.slice(before).toSorted()).toEqual(["count", "slow"])
  })

  test("nothing in the page went uncaught", () => {
    expect(page.faults).toEqual([])
  })
})
