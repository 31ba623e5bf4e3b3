import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { root } from "./manifest.ts"

/** What a test builds from the sources, and from which of them. */
export interface Build {
  /** The folder below `node_modules/.cache`. */
  readonly name: string
  /** Files and folders of the repository, by their paths in it. */
  readonly from: readonly string[]
  /** Builds into an empty folder. */
  readonly build: (folder: string) => Promise<void>
}

/**
 * The folder of a build from the sources as they are now.
 *
 * Kept under a name made of what it was built from: the first test builds it, the others, in whatever process, wait for
 * it. Older builds are removed.
 */
export async function buildOnce({ name, from, build }: Build): Promise<string> {
  const cache = join(root, "node_modules/.cache", name)
  const folder = join(cache, await fingerprint([...from, "package-lock.json"]))
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  await using _lock = await lock(join(cache, "lock"))
  if (existsSync(folder)) return folder
  for (const entry of await readdir(cache)) {
    if (entry !== "lock") await rm(join(cache, entry), { recursive: true, force: true })
  }
  const unfinished = `${folder}.unfinished`
  await mkdir(unfinished)
  await build(unfinished)
  await rename(unfinished, folder)
  return folder
}

async function fingerprint(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256")
  for (const path of paths) {
    for (const file of await filesOf(join(root, path))) {
      hash.update(relative(root, file)).update(await readFile(file))
    }
  }
  return hash.digest("hex").slice(0, 16)
}

async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOTDIR") return undefined
      throw error
    },
  )
  if (entries === undefined) return [path]
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

/** A lock among processes: a file that names its owner. That of a process that is gone is taken over. */
export async function lock(path: string): Promise<AsyncDisposable> {
  for (;;) {
    try {
      await writeFile(path, `${process.pid}`, { flag: "wx" })
      return { [Symbol.asyncDispose]: () => rm(path, { force: true }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    if (isAbandoned(path)) await rm(path, { force: true })
    else await sleep(100)
  }
}

function isAbandoned(path: string): boolean {
  try {
    const owner = Number(readFileSync(path, "utf8"))
    if (owner === 0) return false
    process.kill(owner, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}
