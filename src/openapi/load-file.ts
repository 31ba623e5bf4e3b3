import { CallError } from "../errors.ts"

/** What reads files: `nodeFS` of `@alkdev/operations/node` is one. */
export interface FileReader {
  readFile(path: string): Promise<string>
  /** Where a path leads after all links. Without it, links out of the folder are not noticed. */
  realpath?(path: string): Promise<string>
  /** What a relative path is relative to. */
  cwd?(): string
}

/** The `file:` address of a path, absolute or relative to the working folder. */
export function fileUrlOf(path: string, cwd = "/"): string {
  const url = new URL(`${encode(cwd)}/`.replace(/\/+$/, "/"), "file:///")
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
 * Makes a loader for files that checks where links lead.
 *
 * `allow` is asked about the address, and again about the address of the real path; the folder of
 * the document may itself be reached through a link.
 */
export function createFileLoader(
  fs: FileReader,
  documentUrl: string,
  allow: (url: string) => boolean,
): (url: string) => Promise<string> {
  const folder = new URL(".", documentUrl).href
  let realFolder: Promise<string> | undefined
  return async (url) => {
    const path = filePathOf(url)
    if (fs.realpath !== undefined) {
      realFolder ??= fs.realpath(filePathOf(folder)).then((real) => fileUrlOf(`${real}/`))
      const real = fileUrlOf(await fs.realpath(path))
      if (!real.startsWith(await realFolder) && !allow(real)) {
        throw new CallError(
          "EGRESS_BLOCKED",
          "it is a link that leads out of the document's folder",
        )
      }
    }
    return await fs.readFile(path)
  }
}

// Windows' separators and drive letters; and what would end the path of an address.
function encode(path: string): string {
  const isWindows = /^(?:[A-Za-z]:)?\\|^[A-Za-z]:\//.test(path)
  const forward = isWindows ? path.replaceAll("\\", "/") : path
  const encoded = encodeURI(forward).replaceAll("#", "%23").replaceAll("?", "%3F")
  if (/^[A-Za-z]:\//.test(encoded)) return `/${encoded}`
  // A name such as "a:b.yaml" would be taken for an address.
  return encoded.startsWith("/") ? encoded : `./${encoded}`
}
