import type { ScannerEntry, ScannerFS } from "../../src/sources/scan/scanner.ts"

/** What lies in a folder of memory: a module (as it is imported), a folder, or a link to a path. */
export type MemoryEntry = MemoryFolder | { readonly module: unknown } | { readonly link: string }

export interface MemoryFolder {
  readonly [name: string]: MemoryEntry
}

/** A file system whose modules are values; a module that is a function is called to load it. */
export interface MemoryFS extends ScannerFS {
  /** What was imported, in the order in which it was asked for. */
  readonly imported: string[]
}

/** A `ScannerFS` over plain objects, rooted at `/app`. */
export function memoryFS(root: MemoryFolder, options: { realpath?: boolean } = {}): MemoryFS {
  const imported: string[] = []
  const fs: MemoryFS = {
    imported,
    cwd: () => "/app",
    async *readdir(path) {
      const { entry } = lookUp(root, path)
      if (entry === undefined || isModule(entry)) throw new Error(`ENOENT: no folder "${path}"`)
      for (const [name, child] of Object.entries(entry)) yield describe(root, path, name, child)
    },
    importModule(url) {
      imported.push(url)
      const { entry } = lookUp(root, decodeURIComponent(new URL(url).pathname))
      if (entry === undefined || !isModule(entry)) throw new Error(`no module at ${url}`)
      const { module } = entry
      return Promise.resolve(typeof module === "function" ? (module() as unknown) : module)
    },
  }
  if (options.realpath === false) return fs
  return {
    ...fs,
    async realpath(path) {
      const { entry, real } = await Promise.resolve(lookUp(root, path))
      if (entry === undefined) throw new Error(`ENOENT: nothing at "${path}"`)
      return real
    },
  }
}

function describe(
  root: MemoryFolder,
  path: string,
  name: string,
  entry: MemoryEntry,
): ScannerEntry {
  const isSymlink = isLink(entry)
  const target = isSymlink ? lookUp(root, `${path}/${name}`).entry : entry
  const isFile = target !== undefined && isModule(target)
  return { name, isFile, isDirectory: target !== undefined && !isFile, isSymlink }
}

function lookUp(
  root: MemoryFolder,
  path: string,
): { entry: MemoryFolder | { readonly module: unknown } | undefined; real: string } {
  let entry: MemoryEntry | undefined = root
  let real = "/app"
  const names = path.replace(/^\/app\/?/, "").split("/")
  for (const name of names.filter((part) => part !== "" && part !== ".")) {
    entry = entry === undefined || isModule(entry) ? undefined : entry[name]
    real += `/${name}`
    if (entry !== undefined && isLink(entry)) ({ entry, real } = lookUp(root, entry.link))
  }
  return { entry, real }
}

function isModule(entry: MemoryEntry): entry is { readonly module: unknown } {
  return "module" in entry
}

function isLink(entry: MemoryEntry): entry is { readonly link: string } {
  return "link" in entry && typeof entry["link"] === "string"
}
