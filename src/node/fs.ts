import { opendir, readFile, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { OpenAPIFS } from "../internal/platform.ts"
import { scanDefinitions } from "../sources/scan/scanner.ts"
import type {
  ScannedDefinition,
  ScannerEntry,
  ScannerFS,
  ScanOptions,
} from "../sources/scan/scanner.ts"
import { importModule } from "./import-module.ts"

/** Node's file system for the scanner and the document readers. */
export const nodeFS: Required<ScannerFS> & OpenAPIFS = {
  readdir,
  cwd: () => process.cwd(),
  realpath: (path) => realpath(path),
  importModule: (url) => importModule(url),
  async readFile(path) {
    const text = await readFile(path, "utf8")
    return text.startsWith("\uFEFF") ? text.slice(1) : text
  },
}

async function* readdir(path: string): AsyncGenerator<ScannerEntry, void, undefined> {
  for await (const entry of await opendir(path)) {
    const isSymlink = entry.isSymbolicLink()
    // A link counts as its target; a broken link is neither file nor folder.
    const kind = isSymlink ? await stat(join(path, entry.name)).catch(() => undefined) : entry
    yield {
      name: entry.name,
      isFile: kind?.isFile() ?? false,
      isDirectory: kind?.isDirectory() ?? false,
      isSymlink,
    }
  }
}

/**
 * Loads the operations in a folder with their handlers: `registerAll(await scanDirectory("operations"))`.
 *
 * Takes a path from the working folder, or a URL: `new URL("./operations/", import.meta.url)`. See
 * `scanDefinitions`.
 */
export async function scanDirectory(
  dir: string | URL,
  options?: ScanOptions,
): Promise<ScannedDefinition[]> {
  return await scanDefinitions(dir instanceof URL ? fileURLToPath(dir) : dir, nodeFS, options)
}
