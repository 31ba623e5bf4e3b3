import type { Stats } from "node:fs"
import { stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"

/** In the order they are looked for. */
export const CONFIG_NAMES: readonly string[] = [
  "ts",
  "mts",
  "js",
  "mjs",
  "json",
  "jsonc",
  "yaml",
  "yml",
].map((extension) => `operations.config.${extension}`)

/** What lies in the root of a project. */
const ROOTS = [".git", ".hg", ".jj"]
const OTHERS_MAY_WRITE = 0o002

/**
 * The configuration that a folder belongs to: in it, or above it up to the root of the project, or of
 * the file system where there is no project. `undefined` when there is none.
 *
 * A configuration is a program. In folders above in which anyone may put a file, such as /tmp, none is
 * looked for.
 */
export async function findConfig(cwd: string): Promise<string | undefined> {
  const start = resolve(cwd)
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder === start || !(await isOpenToAll(folder))) {
      const found = await firstFile(folder)
      if (found !== undefined) return found
    }
    if (folder === dirname(folder) || (await isRoot(folder))) return undefined
  }
}

async function firstFile(folder: string): Promise<string | undefined> {
  for (const name of CONFIG_NAMES) {
    const path = join(folder, name)
    if ((await statOf(path))?.isFile() === true) return path
  }
  return undefined
}

async function isRoot(folder: string): Promise<boolean> {
  const marks = await Promise.all(ROOTS.map((name) => statOf(join(folder, name))))
  return marks.some((mark) => mark !== undefined)
}

async function isOpenToAll(folder: string): Promise<boolean> {
  if (process.platform === "win32") return false
  const found = await statOf(folder)
  return found !== undefined && (found.mode & OTHERS_MAY_WRITE) !== 0
}

async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(() => undefined)
}
