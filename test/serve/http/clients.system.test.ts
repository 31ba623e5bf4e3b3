import { spawn } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import createClient from "openapi-fetch"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { compileSchema } from "../../../src/schema/compiled.ts"
import type { ServedHTTP } from "../../../src/node.ts"
import { launchBrowser } from "../../support/browser.ts"
import type { Browser, Page } from "../../support/browser.ts"
import { CHROMIUM, CURL, provideProgram } from "../../support/programs.ts"
import { createTasks } from "./clients-support.ts"
import { eventsOf, serve } from "./support.ts"
import { waitFor } from "../../support/wait-for.ts"

const { registry, news } = createTasks()
let api: ServedHTTP
/** A site of another origin, whose pages may read answers. */
const site = createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/html" })
  response.end("<!doctype html><link rel=icon href=data:,>")
})

const siteURL = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
  api = await serve(registry, {
    cors: { origins: [siteURL()] },
    mounts: {
      "/page": () => ({
        status: 200,
        headers: { "content-type": "text/html" },
        body: "<!doctype html><link rel=icon href=data:,>",
      }),
    },
  })
})
afterAll(async () => {
  await api.close()
  site.closeAllConnections()
  await new Promise<void>((resolve) => site.close(() => resolve()))
})

const hasCurl = provideProgram(CURL) !== undefined

describe.skipIf(!hasCurl)("curl", () => {
  function curl(...args: string[]): Promise<{ code: number | null; out: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn("curl", ["--silent", "--show-error", "--noproxy", "*", ...args])
      let out = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
      child.on("error", reject)
      child.on("close", (code) => resolve({ code, out }))
    })
  }

  test("calls with --json and gets the envelope, or the bare data", async () => {
    const input = '{"title":"tea"}'
    const { out } = await curl("--json", input, `${api.url}/operations/task.create`)
    expect(JSON.parse(out)).toMatchObject({ data: { title: "tea" }, meta: { source: "local" } })
    const bare = await curl("--json", input, `${api.url}/api/task/create`)
    expect(JSON.parse(bare.out)).toEqual({ title: "tea", tags: [] })
  })

  test("asks a query with what it puts into the address", async () => {
    const fields = ["text=a b&c", "limit=3", "tags=x", "tags=y"].flatMap((one) => [
      "--data-urlencode",
      one,
    ])
    const { out } = await curl("--get", ...fields, `${api.url}/api/task/find`)
    expect(JSON.parse(out)).toMatchObject({
      asked: { text: "a b&c", limit: 3, tags: ["x", "y"] },
    })
  })

  test("without a content type receives a refusal; it fails with --fail", async () => {
    const url = `${api.url}/operations/task.create`
    const { out } = await curl("--data", '{"title":"tea"}', url)
    expect(JSON.parse(out)).toMatchObject({ status: 415, detail: expect.stringContaining("json") })
    expect((await curl("--fail", "--json", "{}", url)).code).toBe(22)
  })

  test("waits for the go-ahead of a large body", async () => {
    const title = "x".repeat(100_000)
    const headers = ["--header", "expect: 100-continue"]
    const url = `${api.url}/api/task/create`
    const { out } = await curl(...headers, "--json", JSON.stringify({ title }), url)
    expect(JSON.parse(out)).toEqual({ title, tags: [] })
  })

  test("reads a stream to its end", async () => {
    const url = `${api.url}/api/news/count?to=5`
    const { out } = await curl("--no-buffer", "--header", "accept: text/event-stream", url)
    const events = eventsOf(out)
    expect(events.map(({ id }) => id)).toEqual(["1", "2", "3", "4", "5", undefined])
    expect(events.at(-1)).toEqual({ event: "end", data: "{}" })
  })

  test("asks for the head alone, and for several things on one connection", async () => {
    const head = await curl("--head", `${api.url}/operations`)
    expect(head.out).toMatch(/^HTTP\/1\.1 200 /)
    const url = `${api.url}/api/task/find?text=[1-20]`
    const { out } = await curl("--write-out", "%{num_connects}\n", url)
    const connects = out.match(/\}(\d)$/gm) ?? []
    expect(connects).toHaveLength(20)
    expect(connects.filter((one) => one === "}1")).toHaveLength(1)
  })
})

/** The paths that are called here, as `openapi-typescript` would write them. */
interface Paths {
  "/api/task/find": {
    get: {
      parameters: {
        query: { text: string; limit?: number; tags?: string[]; isOpen?: boolean }
      }
      responses: { 200: { content: { "application/json": { asked: unknown } } } }
    }
  }
  "/api/task/create": {
    post: {
      requestBody: { content: { "application/json": { title: string } } }
      responses: {
        200: { content: { "application/json": { title: string; tags: string[] } } }
        409: { content: { "application/problem+json": { code: string; detail: string } } }
      }
    }
  }
  "/api/task/clear": {
    post: {
      requestBody: { content: { "application/json": Record<string, never> } }
      responses: { 204: { content?: never } }
    }
  }
  "/api/news/count": {
    get: {
      parameters: { query: { to: number } }
      responses: { 200: { content: { "text/event-stream": string } } }
    }
  }
}

describe("openapi-fetch", () => {
  interface Described {
    readonly responses: Readonly<Record<string, { content?: Record<string, { schema: object }> }>>
  }
  let document: { readonly paths: Readonly<Record<string, Record<string, Described>>> }
  beforeAll(async () => {
    document = (await (await fetch(`${api.url}/openapi.json`)).json()) as typeof document
  })
  const client = () => createClient<Paths>({ baseUrl: api.url })

  /** The document says that there is such an answer, and what came is what it says. */
  function expectDescribed(path: keyof Paths, method: string, response: Response, data: unknown) {
    const described = document.paths[path]?.[method]
    const type = response.headers.get("content-type")?.split(";")[0] ?? ""
    const answer = described?.responses[response.status]
    expect(answer).toBeDefined()
    // Only what has a body has a type.
    expect(Object.keys(answer?.content ?? { "": {} })).toContain(type)
    const schema = answer?.content?.[type]?.schema ?? { not: {} }
    const whole = compileSchema({ ...schema, components: (document as never)["components"] })
    expect([whole.check(data), whole.check("nonsense")]).toEqual([data !== undefined, false])
  }

  test("asks queries with parameters", async () => {
    const query = { text: "a/b ?&=é", limit: 2, tags: ["x", "y,z"], isOpen: true }
    const { data, response } = await client().GET("/api/task/find", { params: { query } })
    expect(data?.asked).toEqual(query)
    expectDescribed("/api/task/find", "get", response, data)
  })

  test("sends bodies and reads results, none as well", async () => {
    const { data, response } = await client().POST("/api/task/create", { body: { title: "tea" } })
    expect(data).toEqual({ title: "tea", tags: [] })
    expectDescribed("/api/task/create", "post", response, data)
    const cleared = await client().POST("/api/task/clear", { body: {} })
    expect([cleared.response.status, cleared.error]).toEqual([204, undefined])
    expectDescribed("/api/task/clear", "post", cleared.response, cleared.data)
  })

  test("gets declared errors and validation issues as documented", async () => {
    const taken = await client().POST("/api/task/create", { body: { title: "taken" } })
    expect(taken.error).toMatchObject({ code: "TITLE_TAKEN", detail: "There is such a task." })
    expectDescribed("/api/task/create", "post", taken.response, taken.error)
    const wrong = await client().POST("/api/task/create", { body: { title: "" } })
    expect(wrong.error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(wrong.response.status).toBe(400)
  })

  test("reads streams as they come", async () => {
    const { data, response } = await client().GET("/api/news/count", {
      params: { query: { to: 3 } },
      parseAs: "stream",
    })
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
    const text = await new Response(data as BodyInit).text()
    expect(eventsOf(text)).toHaveLength(4)
  })
})

describe("fetch", () => {
  test("reads the first item before there is a second", async () => {
    const before = news.stopped
    const answer = await fetch(`${api.url}/api/news/wait`)
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
    let text = ""
    while (!text.includes("\n\n")) {
      const { value } = await reader.read()
      text += new TextDecoder().decode(value)
    }
    expect(eventsOf(text)).toEqual([{ id: "1", data: '{"at":1}' }])
    await reader.cancel()
    await waitFor(() => expect(news.stopped).toBe(before + 1))
  })

  test("sends a body of unknown length", async () => {
    const body = new Blob(['{"title":', '"té"}']).stream()
    const answer = await fetch(`${api.url}/api/task/create`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit)
    expect(await answer.json()).toEqual({ title: "té", tags: [] })
  })
})

const chromium = provideProgram(CHROMIUM)

describe.skipIf(chromium === undefined)("EventSource in Chromium", () => {
  let browser: Browser
  let own: Page
  let foreign: Page

  beforeAll(async () => {
    browser = await launchBrowser(chromium as string)
    own = await browser.open(`${api.url}/page`)
    foreign = await browser.open(siteURL())
  })
  afterAll(async () => {
    await browser?.close()
  })

  /** Events of a stream until the `ends`th end or failure; then the page closes it. */
  const listen = (page: Page, url: string, ends = 1): Promise<unknown> =>
    page.evaluate(`new Promise((resolve) => {
      const source = new EventSource(${JSON.stringify(url)})
      const seen = []
      let left = ${ends}
      const over = (what) => {
        seen.push(what)
        if (--left > 0 && source.readyState !== EventSource.CLOSED) return
        source.close()
        resolve(seen)
      }
      source.onmessage = ({ data, lastEventId }) => seen.push([lastEventId, JSON.parse(data)])
      source.addEventListener("end", () => over("end"))
      source.addEventListener("error", (event) => {
        if (event.data !== undefined) over(JSON.parse(event.data).detail)
        else if (source.readyState === EventSource.CLOSED) over("refused")
      })
    })`)

  const item = (at: number): unknown => [String(at), { at, text: "a\n\nb\r\u2028é" }]

  test("reads items with their numbers, and the end", async () => {
    const seen = await listen(own, "/api/news/count?to=3")
    expect(seen).toEqual([item(1), item(2), item(3), "end"])
  })

  test("reads envelopes through the gateway", async () => {
    const input = encodeURIComponent('{"to":1}')
    const seen = await listen(own, `/operations/news.count?input=${input}`)
    expect(seen).toEqual([
      ["1", expect.objectContaining({ data: { at: 1, text: expect.any(String) } })],
      "end",
    ])
  })

  test("connects again by itself and goes on where it was", async () => {
    news.resumedFrom.length = 0
    const seen = await listen(own, "/api/news/count?to=2", 2)
    expect(seen).toEqual([item(1), item(2), "end", item(3), item(4), "end"])
    expect(news.resumedFrom).toEqual([undefined, "2"])
  })

  test("receives the error of a broken stream, and stops when refused", async () => {
    const broken = await listen(own, "/api/news/broken")
    expect(broken).toEqual([["1", { at: 1 }], "The operation failed."])
    expect(await listen(own, "/api/news/count?to=no")).toEqual(["refused"])
    expect(await listen(own, "/api/task/create")).toEqual(["refused"])
    expect(await listen(own, "/api/news/nothing")).toEqual(["refused"])
  })

  test("reads on pages of origins that may, and on no others", async () => {
    expect(await listen(foreign, `${api.url}/api/news/count?to=1`)).toEqual([item(1), "end"])
    const other = `http://localhost:${new URL(siteURL()).port}`
    const page = await browser.open(other)
    expect(await listen(page, `${api.url}/api/news/count?to=1`)).toEqual(["refused"])
  })

  test("calls with fetch, also from another origin", async () => {
    const asked = `(async () => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"title":"tea"}' }
      return await (await fetch("${api.url}/api/task/create", init)).json()
    })()`
    for (const page of [own, foreign]) {
      expect(await page.evaluate(asked)).toEqual({ title: "tea", tags: [] })
    }
  })

  test("that is closed ends the handler, as does a page that goes away", async () => {
    const before = news.stopped
    const open = `new Promise((resolve) => {
      globalThis.source = new EventSource("/api/news/wait")
      source.onmessage = () => resolve()
    })`
    await own.evaluate(open)
    await own.evaluate("source.close()")
    await waitFor(() => expect(news.stopped).toBe(before + 1))
    // In a frame: whole pages are kept for a while, in case somebody goes back to them.
    await own.evaluate(`new Promise((resolve) => {
      globalThis.frame = document.createElement("iframe")
      frame.src = "/page"
      frame.onload = () => resolve(frame.contentWindow.eval(${JSON.stringify(open)}))
      document.documentElement.append(frame)
    })`)
    await own.evaluate("frame.remove()")
    await waitFor(() => expect(news.stopped).toBe(before + 2))
  })

  test("leaves nothing uncaught in the pages", () => {
    expect([...own.faults, ...foreign.faults]).toEqual([])
  })
})
