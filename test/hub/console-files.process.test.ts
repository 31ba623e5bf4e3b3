import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import type { IncomingHttpHeaders } from "node:http"
import { dirname, join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { describe, expect, onTestFinished, test } from "vitest"
import type { ServeHubOptions, ServedHub } from "../../src/hub/serve-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { packageFolder } from "../../src/hub/package-folder.ts"
import { hashApiKey } from "../../src/to-http.ts"
import { root } from "../support/manifest.ts"
import { folder, hubOf } from "./support.ts"

const SCRIPT = `console.log("${"x".repeat(3000)}")`
const PAGE = `<!doctype html><script type="module" src="./assets/index-1a2b_3-d.js"></script>`

/** A console that was built, as far as a server can tell. */
function consoleFolder(more: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const path = folder()
  const files: Record<string, string | Uint8Array> = {
    "index.html": PAGE,
    "icon.svg": "<svg/>",
    "THIRD-PARTY-LICENSES.txt": "licences",
    "assets/index-1a2b_3-d.js.br": brotliCompressSync(SCRIPT),
    "assets/plain.css": "a{}",
    "assets/deep/font-abcdefgh.woff2": "font",
    ...more,
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  return path
}

async function serving(options: ServeHubOptions = {}): Promise<ServedHub> {
  const served = await serveHub(hubOf([]), { port: 0, console: consoleFolder(), ...options })
  onTestFinished(() => served.close())
  return served
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What a browser accepts when a person opens an address. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

/** Asks for a path as it is written, like a browser: `fetch` would tidy it up. */
function ask(
  { url }: ServedHub,
  path: string,
  given: Readonly<Record<string, string>> = {},
  method = "GET",
): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const headers = { accept: BROWSER, ...given }
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      )
    })
    sent.on("error", reject)
    sent.end()
  })
}

describe("the console", () => {
  test("is at /, under a policy that lets it load nothing but itself", async () => {
    const served = await serving()
    expect(served.consoleUrl).toBe(`${served.url}/`)
    const { status, headers, body } = await ask(served, "/")
    expect([status, body.toString()]).toEqual([200, PAGE])
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-cache",
      "content-length": String(PAGE.length),
    })
    const icon = await ask(served, "/icon.svg?v=1")
    expect(icon.headers["content-type"]).toBe("image/svg+xml")
    const font = await ask(served, "/assets/deep/font-abcdefgh.woff2")
    expect([font.status, font.headers["content-type"]]).toEqual([200, "font/woff2"])
  })

  test.each([BROWSER, "text/html"])("is at / for clients that accept %s", async (accept) => {
    const { headers, body } = await ask(await serving(), "/", { accept })
    expect(body.toString()).toBe(PAGE)
    expect(headers.vary).toBe("accept, accept-encoding")
  })

  test.each(["*/*", "", "application/json", "application/json, text/html;q=0.5"])(
    "leaves / to the list of endpoints for clients that accept %j",
    async (accept) => {
      const { status, headers, body } = await ask(await serving(), "/", { accept })
      expect([status, headers["content-type"]]).toEqual([200, "application/json"])
      expect(JSON.parse(body.toString())).toHaveProperty("endpoints")
      expect(headers["cache-control"]).toBe("no-store")
    },
  )

  test("has the title of the hub before anyone has signed in, as text", async () => {
    const index = "<!doctype html><title>Operations</title><p>Page</p>"
    const console = consoleFolder({ "index.html": index })
    const titles = [
      ["Ada & <b>Bob's</b> $& hub", "Ada &amp; &lt;b>Bob's&lt;/b> $&amp; hub"],
      [" ", "Operations"],
      [undefined, "Operations"],
    ] as const
    const etags = new Set<string | undefined>()
    for (const [title, shown] of titles) {
      const served = await serving({ console, title })
      const { body, headers } = await ask(served, "/")
      expect(body.toString()).toBe(index.replace("Operations", () => shown))
      etags.add(headers.etag)
      expect((await ask(served, "/none")).body.toString()).toContain(`<title>${shown}</title>`)
    }
    expect(etags.size).toBe(2)
  })

  test("is kept by browsers: files with a hash for ever, others until they change", async () => {
    const served = await serving()
    const script = await ask(served, "/assets/index-1a2b_3-d.js")
    expect(script.headers["cache-control"]).toBe("public, max-age=31536000, immutable")
    expect((await ask(served, "/assets/plain.css")).headers["cache-control"]).toBe("no-cache")
    const { etag = "" } = (await ask(served, "/")).headers
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask(served, "/", { "if-none-match": known })
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag])
    }
    expect((await ask(served, "/", { "if-none-match": `"other"` })).status).toBe(200)
  })

  test("is sent compressed to clients that accept it", async () => {
    const served = await serving()
    const path = "/assets/index-1a2b_3-d.js"
    const cases = [
      ["gzip, deflate, br", "br", brotliCompressSync(SCRIPT)],
      ["gzip;q=1.0, br;q=0", "gzip", gzipSync(SCRIPT)],
      ["GZIP", "gzip", gzipSync(SCRIPT)],
      ["identity", undefined, Buffer.from(SCRIPT)],
      ["br;q=0.000, zstd", undefined, Buffer.from(SCRIPT)],
    ] as const
    const etags = new Set<string | undefined>()
    for (const [accepted, encoding, bytes] of cases) {
      const { headers, body } = await ask(served, path, { "accept-encoding": accepted })
      expect(headers["content-encoding"]).toBe(encoding)
      expect(headers["content-type"]).toBe("text/javascript; charset=utf-8")
      expect(headers.vary).toBe("accept-encoding")
      expect(body.equals(bytes)).toBe(true)
      etags.add(headers.etag)
    }
    expect(etags.size).toBe(3)
  })

  test("answers HEAD, and refuses other methods than GET", async () => {
    const served = await serving()
    const head = await ask(served, "/", {}, "HEAD")
    expect([head.status, head.body.length, head.headers["content-length"]]).toEqual([
      200,
      0,
      String(PAGE.length),
    ])
    const refused = await ask(served, "/", {}, "DELETE")
    expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD"])
  })

  test("serves no other file, however the path is written", async () => {
    const path = consoleFolder()
    symlinkSync("/etc/hostname", join(path, "assets/link.txt"))
    const served = await serving({ console: path })
    for (const tried of [
      "/assets/../../package.json",
      "/assets/../index.html",
      "/assets/..%2f..%2fpackage.json",
      "/assets/%2e%2e/%2e%2e/package.json",
      "/assets/..\\..\\package.json",
      "/assets/..%5c..%5cpackage.json",
      "/assets/index-1a2b_3-d.js%00.css",
      "/assets/%00",
      "/assets//etc/passwd",
      "/assets/link.txt",
      "/assets/",
      "/assets/__proto__",
      "/assets/constructor",
      "/assets/index-1a2b_3-d.js.br",
      "/assets/%69ndex-1a2b_3-d.js",
      `/assets/${"a".repeat(5000)}`,
    ]) {
      const { status, body } = await ask(served, tried)
      expect([tried, status, body.toString()]).toEqual([tried, 404, "There is no such file.\n"])
    }
    for (const other of ["/index.html", "/package.json", "/../package.json", "//", "/%2e"]) {
      expect([other, (await ask(served, other)).status]).toEqual([other, 404])
    }
    expect((await ask(served, "/THIRD-PARTY-LICENSES.txt")).status).toBe(404)
  })

  test("is served without authentication, and nothing else is", async () => {
    const served = await serving({ apiKeys: [{ id: "ada", hash: hashApiKey("k".repeat(30)) }] })
    expect((await ask(served, "/")).status).toBe(200)
    expect((await ask(served, "/assets/plain.css")).status).toBe(200)
    expect((await ask(served, "/assets/none.css")).status).toBe(404)
    for (const path of ["/operations", "/hub/operations", "/hub/stats", "/openapi.json"]) {
      expect([path, (await ask(served, path)).status]).toEqual([path, 401])
    }
  })

  test("is refused to pages of other origins, and under foreign host names", async () => {
    const served = await serving()
    for (const headers of [
      { host: "evil.example" },
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
    ]) {
      const refused = await ask(served, "/", headers)
      expect([refused.status, refused.body.toString().includes("<script")]).toEqual([403, false])
    }
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }
    expect((await ask(served, "/", link)).status).toBe(200)
  })

  test("leads browsers from the address of a view without its # to the view", async () => {
    const served = await serving({ basePath: "/v1" })
    const page = await ask(served, "/v1/calls", { accept: "text/html" })
    expect([page.status, page.headers["location"]]).toEqual([302, "./#/calls"])
    expect((await ask(served, "/v1/calls", { accept: "application/json" })).status).toBe(404)
    const locations = [
      ["/v1/o/task.create", "../#/o/task.create"],
      ["/v1/calls/41f0", "../#/calls/41f0"],
      ["/v1/docs", "./"],
      ["/v1/favicon.ico", "./icon.svg"],
    ] as const
    for (const [path, location] of locations) {
      const { status, headers } = await ask(served, path, { accept: "text/html" })
      expect([path, status, headers["location"]]).toEqual([path, 302, location])
    }
  })

  test("has a page with a link home where there is nothing, for browsers alone", async () => {
    const served = await serving({ basePath: "/v1" })
    const homes = [
      ["/v1/nothing", "./"],
      ["/v1/o/", "../"],
      ["/v1/sources/a/b", "../../"],
      ["/v1/%3Cscript%3E", "./"],
    ] as const
    for (const [path, home] of homes) {
      const { status, headers, body } = await ask(served, path, { accept: "text/html" })
      expect([path, status, headers["content-type"]]).toEqual([
        path,
        404,
        "text/html; charset=utf-8",
      ])
      expect(String(body)).toContain(`<a href="${home}">`)
      expect(String(body)).not.toContain("script")
      const other = await ask(served, path, { accept: "application/json" })
      expect([path, other.status, other.headers["content-type"]]).toEqual([
        path,
        404,
        "application/problem+json",
      ])
    }
  })

  test("is served under the base path with its files", async () => {
    const served = await serving({ basePath: "/v1/hub" })
    expect(served.consoleUrl).toBe(`${served.url}/`)
    const bare = await ask(served, "/v1/hub")
    expect([bare.status, bare.headers.location]).toEqual([308, "./hub/"])
    expect(new URL("./hub/", served.url).href).toBe(served.consoleUrl)
    expect((await ask(served, "/v1/hub/")).status).toBe(200)
    expect((await ask(served, "/v1/hub/assets/plain.css")).status).toBe(200)
    for (const path of ["/", "/v1/", "/v1/hub2/", "/assets/plain.css"]) {
      expect([path, (await ask(served, path)).status]).toEqual([path, 404])
    }
  })

  test("a console that is not built says how to build it, and is found once it is built", async () => {
    const path = folder()
    const served = await serving({ console: path })
    const { status, headers, body } = await ask(served, "/")
    expect([status, headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"])
    expect(headers["content-security-policy"]).toContain("default-src 'none'")
    expect(body.toString()).toContain("npm run build")
    expect((await ask(served, "/assets/index.js")).status).toBe(404)
    writeFileSync(join(path, "index.html"), "there")
    expect((await ask(served, "/")).body.toString()).toBe("there")
  })

  test("can be switched off", async () => {
    const served = await serving({ console: false })
    expect(served.consoleUrl).toBeUndefined()
    const { status, headers } = await ask(served, "/")
    expect([status, headers["content-type"]]).toEqual([200, "application/json"])
    expect((await ask(served, "/icon.svg")).status).toBe(404)
  })

  test("is looked for in the package", () => {
    expect(packageFolder()).toBe(root)
  })
})
