/** Joins a folder and a name. Windows accepts slashes, too. */
export function joinPath(folder: string, name: string): string {
  return /[/\\]$/.test(folder) ? folder + name : `${folder}/${name}`
}

/** Whether a path is a folder or below it. Both must be real paths. */
export function isUnder(folder: string, path: string): boolean {
  if (path === folder) return true
  const [outer, inner] = isWindows(folder)
    ? [folder.replaceAll("\\", "/"), path.replaceAll("\\", "/")]
    : [folder, path]
  return inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`)
}

/**
 * Converts a path to a file URL, like Node's `pathToFileURL`; a relative path starts at `cwd`.
 *
 * The spelling matters: a module that is imported under two spellings is loaded twice.
 */
export function fileUrl(path: string, cwd: string): string {
  if (isWindows(path)) return windowsUrl(path)
  if (!path.startsWith("/") && isWindows(cwd)) return windowsUrl(joinPath(cwd, path))
  // A path from the root of a drive: `/ops` where the working folder is on `C:`.
  if (path.startsWith("/") && isWindows(cwd)) return windowsUrl(cwd.slice(0, 2) + path)
  const absolute = path.startsWith("/") ? path : joinPath(cwd, path)
  return withPath("file:///", escape(absolute).replaceAll("\\", "%5C"))
}

/** A drive letter with a separator, or a share. */
function isWindows(path: string): boolean {
  return /^(?:[A-Za-z]:[/\\]|\\\\)/.test(path)
}

function windowsUrl(native: string): string {
  // `\\?\C:\ops` and `\\?\UNC\server\ops` are long spellings of the same paths.
  const plain = native.replace(/^\\\\\?\\(?:UNC\\)?/, (prefix) => (prefix.length > 4 ? "\\\\" : ""))
  const path = escape(plain.replaceAll("\\", "/"))
  const [, server, rest = ""] = /^\/\/([^/]+)(.*)$/.exec(path) ?? []
  return server === undefined
    ? withPath("file:///", `/${path}`)
    : withPath(`file://${server}/`, rest)
}

// Setting `pathname` does not trim; parsing the path as part of a URL would.
function withPath(base: string, path: string): string {
  const url = new URL(base)
  url.pathname = path
  return url.href
}

// The URL parser escapes all other characters; these it would interpret, drop, or leave unescaped.
const ESCAPED = /[%#?\n\r\t[\]^|~]/g

function escape(path: string): string {
  return path.replace(
    ESCAPED,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  )
}
