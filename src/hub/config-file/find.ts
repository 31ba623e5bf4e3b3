import type { Stats } from "node:fs"
import { stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"

/** File names of configurations, in order of precedence. */
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

/** Entries that mark the root of a project. */
const ROOTS = [".git", ".hg", ".jj"]
const WORLD_WRITABLE = 0o002

/**
 * Finds the configuration for a folder: in it, or above it up to the root of the project, or of
 * the file system where there is no project. `undefined` when there is none.
 *
 * A configuration is a program, so folders above that anyone can write to, such as /tmp, are
 * skipped.
 */
export async function findConfig(cwd: string): Promise<string | undefined> {
  const start = resolve(cwd)
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder === start || !(await isOpenToAll(folder))) {
      const file = await firstFile(folder)
      if (file !== undefined) return file
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
  const stats = await Promise.all(ROOTS.map((name) => statOf(join(folder, name))))
  return stats.some((entry) => entry !== undefined)
}

async function isOpenToAll(folder: string): Promise<boolean> {
  if (process.platform === "win32") return false
  const stats = await statOf(folder)
  return stats !== undefined && (stats.mode & WORLD_WRITABLE) !== 0
}

async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(() => undefined)
}
