import { nodeBuiltin } from "../../internal/node-builtin.ts"
import { parseUrl } from "../../http-client/egress.ts"
import { percentDecoded } from "../../internal/percent.ts"
import { CallError } from "../../core/errors.ts"
import { trimEnd } from "../../internal/trim-end.ts"

/** Reads files; for example `nodeFS` of `@alkdev/operations/node`. */
export interface FileReader {
  readFile(path: string): Promise<string>
  /** Resolves all links in a path. Without it, links out of the folder are not noticed. */
  realpath?(path: string): Promise<string>
  /** The base of relative paths. */
  cwd?(): string
}

/** The `file:` address of a path, absolute or relative to the working folder. */
export function fileUrlOf(path: string, cwd = "/"): string {
  const url = new URL(`${trimEnd(encode(cwd), "/")}/`, "file:///")
  return new URL(encode(path), url).href
}

/** The path of a `file:` address, with `/` between its parts also on Windows. */
export function filePathOf(url: string): string {
  const { protocol, hostname, pathname } = new URL(url)
  if (protocol !== "file:") throw new TypeError(`"${url}" is not a file: address.`)
  const path = decodeURIComponent(pathname)
  if (hostname !== "") return `//${hostname}${path}`
  return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path
}

/**
 * Creates a loader for files that checks the targets of links.
 *
 * The document's folder and the entries of the list may be links themselves: the check compares real paths.
 */
export function createFileLoader(
  fs: FileReader,
  documentUrl: string,
  list: readonly (string | URL)[] = [],
): (url: string) => Promise<string> {
  const realUrl = async (url: string): Promise<string | undefined> => {
    const real = await fs.realpath?.(filePathOf(url)).catch(() => undefined)
    return real && fileUrlOf(url.endsWith("/") ? `${real}/` : real)
  }
  let allowed: Promise<(string | undefined)[]> | undefined
  return async (url) => {
    if (fs.realpath !== undefined) {
      const roots = [".", ...list.map(String)].map((entry) => new URL(entry, documentUrl).href)
      const files = roots.filter((root) => root.startsWith("file:"))
      allowed ??= Promise.all(files.map(realUrl))
      const real = fileUrlOf(await fs.realpath(filePathOf(url)))
      const isBelow = (root: string | undefined): boolean =>
        root !== undefined && isAtOrBelow(real, root)
      if (!(await allowed).some(isBelow)) {
        throw new CallError(
          "EGRESS_BLOCKED",
          "it is a link that leads out of the document's folder",
        )
      }
    }
    return await fs.readFile(filePathOf(url))
  }
}

// Converts Windows separators and drive letters, and encodes characters that would end the path.
function encode(path: string): string {
  const isWindows = /^(?:[A-Za-z]:)?\\|^[A-Za-z]:\//.test(path)
  const forward = isWindows ? path.replaceAll("\\", "/") : path
  const encoded = encodeURI(forward).replaceAll("#", "%23").replaceAll("?", "%3F")
  if (/^[A-Za-z]:\//.test(encoded)) return `/${encoded}`
  // A name such as "a:b.yaml" would look like an address.
  return encoded.startsWith("/") ? encoded : `./${encoded}`
}

/** The parts of Node's modules that reading a document needs. */
interface NodeFiles {
  readFile(path: string, encoding: "utf8"): Promise<string>
  realpath(path: string): Promise<string>
}

/** Node's file system, loaded when it is first needed. */
export async function platformFS(): Promise<FileReader> {
  let fs: NodeFiles
  let host: { cwd(): string }
  try {
    fs = await nodeBuiltin("fs/promises")
    host = await nodeBuiltin("process")
  } catch (cause) {
    throw new CallError(
      "UNAVAILABLE",
      "FromOpenAPIFile(path, config, fs): this platform has no file system of Node. Pass fs, or load the text yourself and use FromOpenAPI.",
      { cause, retryable: false },
    )
  }
  return {
    async readFile(path) {
      const text = await fs.readFile(path, "utf8")
      return text.startsWith("\uFEFF") ? text.slice(1) : text
    },
    realpath: (path) => fs.realpath(path),
    cwd: () => host.cwd(),
  }
}

/**
 * Returns a check for which files a document may refer to: those below its own folder, and those on a list.
 *
 * An entry of the list is an address, or relative to the document: `"../common"` and
 * `"https://schemas.test/v1/"` allow everything below them, an origin allows everything there, and
 * `"../error.json"` allows that file.
 */
export function allowReferences(
  documentUrl: string,
  list: readonly (string | URL)[] = [],
): (url: string) => boolean {
  const entries = [new URL(".", documentUrl), ...list.map((entry) => entryUrl(entry, documentUrl))]
  return (url) => {
    const target = parseUrl(url)
    return target !== undefined && entries.some((entry) => covers(entry, target))
  }
}

function entryUrl(entry: string | URL, documentUrl: string): URL {
  const url = parseUrl(entry, documentUrl)
  if (url !== undefined && isReadable(url)) return url
  throw new TypeError(
    `${JSON.stringify(String(entry))} cannot be allowed for references. Use a folder ("../common/"), a file, or an http(s) address.`,
  )
}

function covers(entry: URL, target: URL): boolean {
  if (!isReadable(target) || target.protocol !== entry.protocol) return false
  if (target.host !== entry.host || hasHiddenStep(target.pathname)) return false
  // Some characters may be percent-encoded or not.
  const [allowed, requested] = [percentDecoded(entry.pathname), percentDecoded(target.pathname)]
  if (requested === allowed) return target.search === entry.search
  return isAtOrBelow(requested, allowed)
}

/** Whether a path is another, or below it as a folder, which may end with a slash. */
function isAtOrBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`)
}

/** The entry of `allowedReferences` that allows the folder of a file: relative to the document where that is short. */
export function allowingEntry(url: string, documentUrl: string): string | undefined {
  const [target, base] = [parseUrl(".", url), parseUrl(".", documentUrl)]
  if (target === undefined || !isReadable(target) || hasHiddenStep(target.pathname))
    return undefined
  if (target.protocol !== base?.protocol || target.host !== base.host) return target.href
  const [to, from] = [target.pathname.split("/"), base.pathname.split("/")]
  const shared = from.findIndex((step, index) => step !== to[index])
  const up = shared < 0 ? 0 : from.length - 1 - shared
  return up > 3 ? target.href : "../".repeat(up) + to.slice(from.length - 1 - up).join("/")
}

function isReadable(url: URL): boolean {
  const isKnown = url.protocol === "https:" || url.protocol === "http:" || url.protocol === "file:"
  return isKnown && url.username === "" && url.password === ""
}

// `..%2f` is one step for a URL, and two for a file system or a careless server that decodes it.
function hasHiddenStep(pathname: string): boolean {
  return /%(?:2f|5c|00)/i.test(pathname)
}
