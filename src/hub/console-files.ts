import { join } from "node:path"
import type { HTTPAnswer, HTTPIncoming } from "../serve/exchange.ts"
import type { NodeRequestLike } from "../serve/node-types.ts"
import { prefers } from "../serve/negotiate.ts"
import type { PublicFiles } from "../serve/http/options.ts"
import { loadConsole, type ConsoleFile } from "./console/load.ts"
import { packageFolder } from "./package-folder.ts"

/** Content security policy: the console may only load its own files and call its own hub. */
const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONSOLE_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
}

/** Options of the console. */
export interface ConsoleFilesOptions {
  /** `""`, or a path with a leading slash and no trailing one. */
  readonly basePath: string
  /** Folder of the built console; default: the one in this package. */
  readonly folder?: string | undefined
  /** The title of the hub, which the page has before anyone has signed in: "Operations". */
  readonly title?: string | undefined
}

/**
 * Serves the page at `/`, to clients that ask for a page, and its assets. They are public: the page has no data,
 * and asks for a key when the hub needs one.
 */
export class ConsoleFiles implements PublicFiles {
  readonly #basePath: string
  readonly #folder: string | undefined
  readonly #title: string
  #files: Promise<ReadonlyMap<string, ConsoleFile> | undefined> | undefined

  constructor({ basePath, folder = builtConsole(), title = "" }: ConsoleFilesOptions) {
    this.#basePath = basePath
    this.#folder = folder
    this.#title = htmlText(title.trim() || "Operations")
  }

  has(path: string, incoming: HTTPIncoming): boolean {
    const base = this.#basePath
    if (!path.startsWith(base)) return false
    const rest = path.slice(base.length)
    const isPage = rest === "/" || (rest === "" && base !== "")
    if (isPage || viewOf(rest) !== undefined) {
      return prefers(incoming.header("accept"), "text/html")
    }
    return rest === "/icon.svg" || rest === "/favicon.ico" || rest.startsWith("/assets/")
  }

  /** A page with a link home, for a browser that asks for something that does not exist. */
  missing(incoming: HTTPIncoming): HTTPAnswer | undefined {
    const { method, path } = incoming
    const isRead = method === "GET" || method === "HEAD"
    if (!isRead || !prefers(incoming.header("accept"), "text/html")) return undefined
    const rest = path.slice(this.#basePath.length)
    if (!path.startsWith(this.#basePath) || rest === "") return undefined
    // Relative: a proxy may serve the hub under another path.
    const home = "../".repeat(rest.split("/").length - 2) || "./"
    return page(
      `<h1>There is no such page</h1>
    <p><a href="${home}">To the operations</a></p>`,
      this.#title,
    )
  }

  async answer(incoming: HTTPIncoming): Promise<HTTPAnswer> {
    const { method, path } = incoming
    if (method !== "GET" && method !== "HEAD") {
      return text(405, "This path takes GET and HEAD.\n", { allow: "GET, HEAD" })
    }
    const rest = path.slice(this.#basePath.length)
    // The page's assets are relative to it, so its URL needs the slash. Express calls a mount without one "/".
    const { originalUrl = path } = incoming.like as Pick<NodeRequestLike, "originalUrl">
    const [whole = ""] = originalUrl.split("?", 1)
    if (rest === "" || (rest === "/" && !whole.endsWith("/"))) {
      return text(308, "", { location: `./${whole.slice(whole.lastIndexOf("/") + 1)}/` })
    }
    if (rest === "/favicon.ico") return text(302, "", { location: "./icon.svg" })
    const view = viewOf(rest)
    if (view !== undefined) return text(302, "", { location: view })
    const files = await this.#load()
    if (files === undefined && rest === "/") return notBuilt(this.#title)
    const file = files?.get(rest === "/" ? "index.html" : rest.slice(1))
    if (file === undefined) return text(404, "There is no such file.\n")
    return await fileAnswer(file, incoming, rest === "/")
  }

  /** Reads the files at the first request; a missing console is looked for again each time. */
  async #load(): Promise<ReadonlyMap<string, ConsoleFile> | undefined> {
    if (this.#folder === undefined) return undefined
    this.#files ??= loadConsole(this.#folder, this.#title).catch(() => undefined)
    const files = await this.#files
    if (files === undefined) this.#files = undefined
    return files
  }
}

/** `dist/console` of this package, whether it runs from its sources or as it was built. */
function builtConsole(): string | undefined {
  const root = packageFolder()
  return root === undefined ? undefined : join(root, "dist", "console")
}

async function fileAnswer(
  file: ConsoleFile,
  incoming: HTTPIncoming,
  isNegotiated: boolean,
): Promise<HTTPAnswer> {
  const accepted = acceptedEncodings(incoming.header("accept-encoding"))
  const { etag, bytes, encoding } = await file.encoded((one) => accepted.has(one))
  const headers = {
    ...HEADERS,
    etag,
    vary: isNegotiated ? "accept, accept-encoding" : "accept-encoding",
    "cache-control": file.isHashed ? "public, max-age=31536000, immutable" : "no-cache",
  }
  if (matchesEtag(etag, incoming.header("if-none-match"))) return { status: 304, headers }
  return {
    status: 200,
    headers: {
      ...headers,
      "content-type": file.type,
      ...(encoding !== undefined && { "content-encoding": encoding }),
    },
    body: bytes,
  }
}

/** Where an address of a view without its "#" leads, as a user types it: `/o/task.create` to `../#/o/task.create`. */
function viewOf(path: string): string | undefined {
  if (path === "/docs") return "./"
  const [, name = "", ...rest] = path.split("/")
  const isDeep = rest.length === 1 && rest[0] !== ""
  if (isDeep) return name === "o" || name === "calls" ? `../#${path}` : undefined
  return rest.length === 0 && VIEWS.has(name) ? `./#${path}` : undefined
}

/** Views of the console. */
const VIEWS: ReadonlySet<string> = new Set(["calls", "sources", "history"])

/** The encodings that a client accepts, by its `Accept-Encoding`. */
export function acceptedEncodings(header: string | undefined): ReadonlySet<string> {
  const accepted = new Set<string>()
  for (const one of (header ?? "").split(",")) {
    const [name = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase())
    if (!parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) accepted.add(name)
  }
  return accepted
}

function matchesEtag(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(",").some((one) => {
    const tag = one.trim()
    return tag === "*" || tag.replace(/^W\//, "") === etag
  })
}

function text(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): HTTPAnswer {
  return {
    status,
    headers: {
      ...HEADERS,
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      ...headers,
    },
    body,
  }
}

function notBuilt(title: string): HTTPAnswer {
  return page(
    `<h1>The console is not built</h1>
    <p>Build it in the folder of the package, then load this page again:</p>
    <pre>npm run build</pre>
    <p>
      The hub itself works: <a href="./operations">its operations</a>,
      <a href="./openapi.json">its OpenAPI document</a>.
    </p>`,
    title,
  )
}

function htmlText(title: string): string {
  return title.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
}

function page(body: string, title: string): HTTPAnswer {
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
  </head>
  <body>
    ${body}
  </body>
</html>
`
  return text(404, html, { "content-type": "text/html; charset=utf-8" })
}
