import { parseUrl } from "../../http-client/egress.ts"
import { percentDecoded } from "../../internal/percent.ts"

/**
 * Returns a check for which files a document may refer to: those below its own folder, and those on a list.
 *
 * An entry of the list is an address, or relative to the document: `"../common/"` and
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
  return allowed.endsWith("/")
    ? requested.startsWith(allowed)
    : requested === allowed && target.search === entry.search
}

function isReadable(url: URL): boolean {
  const isKnown = url.protocol === "https:" || url.protocol === "http:" || url.protocol === "file:"
  return isKnown && url.username === "" && url.password === ""
}

// `..%2f` is one step for a URL, and two for a file system or a careless server that decodes it.
function hasHiddenStep(pathname: string): boolean {
  return /%(?:2f|5c|00)/i.test(pathname)
}
