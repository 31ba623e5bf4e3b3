/** A name under a folder. Windows takes slashes as well. */
export function joinPath(folder: string, name: string): string {
  return /[/\\]$/.test(folder) ? folder + name : `${folder}/${name}`
}

/** Whether a path is a folder or lies under it. Both are real paths. */
export function isUnder(folder: string, path: string): boolean {
  if (path === folder) return true
  const [outer, inner] = isWindows(folder)
    ? [folder.replaceAll("\\", "/"), path.replaceAll("\\", "/")]
    : [folder, path]
  return inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`)
}

/**
 * The file URL of a path, as `pathToFileURL` of Node writes it; a relative path starts at `cwd`.
 *
 * The spelling matters: a module that is imported under two of them is loaded twice.
 */
export function fileUrl(path: string, cwd: string): string {
  if (isWindows(path)) return windowsUrl(path)
  if (!path.startsWith("/") && isWindows(cwd)) return windowsUrl(joinPath(cwd, path))
  // A path from the root of a drive: `/ops` where the working folder is on `C:`.
  if (path.startsWith("/") && isWindows(cwd)) return windowsUrl(cwd.slice(0, 2) + path)
  const absolute = path.startsWith("/") ? path : joinPath(cwd, path)
  return new URL(`file://${escape(absolute).replaceAll("\\", "%5C")}`).href
}

/** A drive letter with a separator, or a share. */
function isWindows(path: string): boolean {
  return /^(?:[A-Za-z]:[/\\]|\\\\)/.test(path)
}

function windowsUrl(path: string): string {
  // `\\?\C:\ops` and `\\?\UNC\server\ops` are the long spellings of the same places.
  const plain = path.replace(/^\\\\\?\\(?:UNC\\)?/, (prefix) => (prefix.length > 4 ? "\\\\" : ""))
  const slashes = escape(plain.replaceAll("\\", "/"))
  return new URL(slashes.startsWith("//") ? `file:${slashes}` : `file:///${slashes}`).href
}

// The URL parser escapes the rest; these it would take for its own syntax, or drop.
function escape(path: string): string {
  return path
    .replaceAll("%", "%25")
    .replaceAll("#", "%23")
    .replaceAll("?", "%3F")
    .replaceAll("\n", "%0A")
    .replaceAll("\r", "%0D")
    .replaceAll("\t", "%09")
}
