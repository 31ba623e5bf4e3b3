import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { serveHTTP } from "../../src/node.ts"
import type { ServedHTTP } from "../../src/node.ts"
import { FileStream, toFile } from "../../src/type.ts"
import { launchBrowser } from "../support/browser.ts"
import type { Browser } from "../support/browser.ts"
import { CHROMIUM, provideProgram } from "../support/programs.ts"

/** Content types of which browsers take the last one, and readers of the first one something harmless. */
const TYPES = [
  "text/plain;a=b,text/html",
  "text/plain;charset=x,text/html;charset=utf-8",
  "application/json;a=b,image/svg+xml",
  "image/png;a=b,text/html",
  "text/html",
  "text/plain",
]

const fileOperation = (at: number): object => ({
  operationId: `f${at}`,
  responses: { 200: { description: "", content: { "*/*": { schema: { format: "binary" } } } } },
})

/** A page that calls an operation of its own origin while it loads. */
function pageOf(type: string, mark: string): string {
  const script = `<script>var x = new XMLHttpRequest(); x.open("GET", "/api/x/mark?by=${encodeURIComponent(mark)}", false); x.send()</script>`
  return type.includes("svg")
    ? `<svg xmlns="http://www.w3.org/2000/svg">${script.replaceAll("&", "&amp;")}</svg>`
    : `<!doctype html>${script}`
}

const base = {
  namespace: "x",
  version: "1.0.0",
  description: "",
  accessControl: { requiredScopes: [] },
}
const marks: string[] = []
const upstream = createServer((request, response) => {
  const type = TYPES[Number((request.url ?? "").slice(2))] ?? ""
  response.setHeader("content-type", type)
  response.end(pageOf(type, `imported ${type}`))
})
let served: ServedHTTP
let browser: Browser
const chromium = provideProgram(CHROMIUM)

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  const registry = createRegistry([
    defineOperation({
      ...base,
      name: "mark",
      type: "query",
      inputSchema: Type.Object({ by: Type.String() }),
      outputSchema: Type.String(),
      handler: ({ by }) => (marks.push(by), by),
    }),
    defineOperation({
      ...base,
      name: "file",
      type: "query",
      inputSchema: Type.Object({ type: Type.String() }),
      outputSchema: FileStream(),
      handler: ({ type }) => toFile(pageOf(type, `own ${type}`), { type }),
    }),
  ])
  const document = {
    openapi: "3.1.0",
    info: { title: "x", version: "1" },
    paths: Object.fromEntries(TYPES.map((_, at) => [`/f${at}`, { get: fileOperation(at) }])),
  }
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  registry.registerAll(FromOpenAPI(document, { namespace: "api", baseUrl }) as never)
  served = await serveHTTP(registry, {
    port: 0,
    logger: silentLogger,
    websocket: false,
    mounts: {
      "/control": () => ({
        status: 200,
        headers: { "content-type": "text/html" },
        body: pageOf("text/html", "control"),
      }),
    },
  })
  if (chromium !== undefined) browser = await launchBrowser(chromium)
})

afterAll(async () => {
  await browser?.close()
  await served.close()
  upstream.close()
})

describe.skipIf(chromium === undefined).each([
  ["own", (at: number) => `/api/x/file?type=${encodeURIComponent(TYPES[at] as string)}`],
  ["imported", (at: number) => `/api/api/f${at}`],
])("a file of an operation (%s)", (_, pathOf) => {
  test.each(TYPES.map((type, at) => [type, at] as const))(
    "of type %s runs no script in the origin of the server",
    async (_type, at) => {
      const url = `${served.url}${pathOf(at)}`
      marks.length = 0
      const page = await browser.open("about:blank")
      await page.send("Page.navigate", { url })
      // The page of the file, or the one before if the file was saved.
      await expect.poll(() => page.evaluate("document.readyState")).toBe("complete")
      // The control proves that scripts run.
      await page.send("Page.navigate", { url: `${served.url}/control` })
      await expect.poll(() => marks).toContain("control")
      expect(marks).toEqual(["control"])

      const response = await fetch(url)
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).not.toContain(",")
      expect(response.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'")
    },
  )
})
