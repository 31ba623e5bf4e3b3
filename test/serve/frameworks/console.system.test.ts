import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createRegistry } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { greet } from "../../support/operations.ts"
import { MOUNT_WAYS } from "./mounts.ts"

const PAGE = "<!doctype html><title>Test console</title>"
const BROWSER = { headers: { accept: "text/html,*/*;q=0.8" }, redirect: "manual" } as const
const SCRIPT = "assets/index-1a2b3c4d.js"

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "console-"))
  await mkdir(join(folder, "assets"))
  await writeFile(join(folder, "index.html"), PAGE)
  await writeFile(join(folder, SCRIPT), "1")
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

function api(basePath = "", more: Parameters<typeof toHTTP>[1] = {}): ReturnType<typeof toHTTP> {
  const registry = createRegistry([greet], { logger: silentLogger })
  return toHTTP(registry, { console: folder, basePath, logger: silentLogger, ...more })
}

describe.each(MOUNT_WAYS)("the console of a mounted API: $name", (way) => {
  test.each(["", "/tools"])("is served under %j", async (path) => {
    await using server = api(path)
    await using mounted = await way.mount(server, path)
    const ask = (below: string, init: RequestInit = BROWSER): Promise<Response> =>
      mounted.send(path + below, init)
    const page = await ask("/")
    expect([page.status, await page.text()]).toEqual([200, PAGE])
    expect((await ask(`/${SCRIPT}`)).headers.get("cache-control")).toContain("immutable")
    expect(await (await ask("/hub/operations")).json()).toHaveProperty("operations")
    expect(await (await ask("/", {})).json()).toHaveProperty("endpoints")
    const docs = await ask("/docs")
    expect([docs.status, docs.headers.get("location")]).toEqual([302, "./"])
    const missing = await ask("/no/such/page")
    expect([missing.status, await missing.text()]).toEqual([
      404,
      expect.stringContaining('<a href="../../">'),
    ])
    expect((await ask("/no/such", {})).headers.get("content-type")).toBe("application/problem+json")
    expect(await (await ask("/api/demo/greet?name=Ada", {})).json()).toEqual({ text: "Hello, Ada" })
  })

  test("has the slash that its files need", async () => {
    // A framework of web requests that removes the prefix does not say whether there was a slash.
    await using server = api("/tools")
    await using mounted = await way.mount(server, "/tools")
    const answer = await mounted.send("/tools", BROWSER)
    const isUnknown = way.prefix === "removed" && answer.status === 200
    const isElsewhere = answer.status === 404
    expect(isUnknown || isElsewhere || answer.headers.get("location")).toEqual(
      isUnknown || isElsewhere || "./tools/",
    )
  })
})

describe("toHTTP with a console", () => {
  const ask = (path: string): Request => new Request(`http://localhost${path}`, BROWSER)

  test("answers requests that come before it is loaded", async () => {
    await using server = api()
    const answers = await Promise.all(
      ["/", "/hub/stats", "/docs"].map((path) => server.fetch(ask(path))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 302])
  })

  test("finds the console of the package", async () => {
    await using server = api("", { console: true })
    // Built, or the page that says how to build it.
    expect((await server.fetch(ask("/"))).headers.get("content-type")).toContain("text/html")
  })

  test("ends the streams of open consoles when it closes, before and after it is loaded", async () => {
    const server = api("", { drainMs: 20_000 })
    const events = await server.fetch(new Request("http://localhost/hub/events"))
    await server.close()
    expect(await events.text()).toContain("event: end")
    const early = api()
    await early.close()
    expect((await early.fetch(ask("/"))).status).toBe(503)
  })

  test("keeps its paths from own routes", () => {
    const route = { method: "GET", path: "/assets/{name}" } as const
    const registry = createRegistry([{ ...greet, route }])
    expect(() => toHTTP(registry, { console: folder })).toThrow('begin with "/assets"')
  })

  test("needs the gateway and a file system", () => {
    expect(() => api("", { gateway: false })).toThrow("through the gateway")
    const platform = Object.getOwnPropertyDescriptor(globalThis, "process") as PropertyDescriptor
    let thrown: unknown
    Reflect.deleteProperty(globalThis, "process")
    try {
      api()
    } catch (error) {
      thrown = error
    } finally {
      Object.defineProperty(globalThis, "process", platform)
    }
    expect(String(thrown)).toContain("which this platform does not have. Omit console.")
  })
})
