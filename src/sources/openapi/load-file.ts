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
        root !== undefined && (root.endsWith("/") ? real.startsWith(root) : real === root)
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
