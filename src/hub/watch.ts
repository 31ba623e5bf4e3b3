import { watch } from "node:fs"
import type { FSWatcher } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Logger } from "../internal/logger.ts"
import { systemClock, wallTimeOf } from "../internal/clock.ts"

/** What ends when it is closed. */
export interface Watching {
  close(): void
}

/** How files are followed. */
export interface WatchOptions {
  /** Milliseconds without a change before it is told; 100. */
  readonly debounceMs?: number | undefined
  /** What changed after this moment, in milliseconds since 1970, is told at once; now. */
  readonly since?: number | undefined
  readonly logger?: Logger | undefined
}

/** In folders only what a module may be, or import, counts: others write their logs there. */
const COUNTS = /\.(?:[cm]?[jt]sx?|json)$/
const MOST_FILES = 20_000
const POLL = 2000
/** A folder in which something is written all the time is looked at nevertheless. */
const LONGEST_WAIT = 2000

/**
 * Tells when files, or files under folders, have changed: once for many changes at a time, and only
 * when there is something different. Holds no process.
 */
export function watchFiles(
  paths: readonly string[],
  changed: () => void,
  options: WatchOptions = {},
): Watching {
  return new Watcher(
    paths.map((path) => resolve(path)),
    changed,
    options,
  )
}

/** What was seen at one look. */
interface Look {
  /** What each file was like. */
  readonly files: Map<string, string>
  /** Folders in which a change would be seen. */
  readonly folders: Set<string>
  newest: number
}

class Watcher implements Watching {
  readonly #paths: readonly string[]
  readonly #changed: () => void
  readonly #options: WatchOptions
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #since: number
  #last: ReadonlyMap<string, string> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #waitingSince: number | undefined
  #poll: ReturnType<typeof setInterval> | undefined
  #isLooking = false
  #isDirty = false
  #isClosed = false

  constructor(paths: readonly string[], changed: () => void, options: WatchOptions) {
    this.#paths = paths
    this.#changed = changed
    this.#options = options
    // Times of files have parts of milliseconds: what was written just before is older than the next whole one.
    this.#since = options.since ?? wallTimeOf(systemClock) + 1
    void this.#check()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#poll)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  readonly #touched = (): void => {
    if (this.#isClosed) return
    const { debounceMs = 100 } = this.#options
    const now = systemClock.now()
    this.#waitingSince ??= now
    if (this.#timer !== undefined && now - this.#waitingSince > LONGEST_WAIT) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#waitingSince = undefined
      void this.#check()
    }, debounceMs)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    if (this.#isLooking) {
      this.#isDirty = true
      return
    }
    this.#isLooking = true
    try {
      do {
        this.#isDirty = false
        const look = await this.#look()
        if (this.#isClosed) return
        // Folders that are new are followed first, and looked into once more.
        if (this.#follow(look.folders)) this.#isDirty = true
        this.#compare(look)
      } while (this.#isDirty && !this.#isClosed)
    } finally {
      this.#isLooking = false
    }
  }

  #compare({ files, newest }: Look): void {
    const last = this.#last
    this.#last = files
    // A time that is still to come says nothing: it would be newer for ever.
    const isDifferent =
      last === undefined
        ? newest > this.#since && newest <= wallTimeOf(systemClock)
        : !sameFiles(last, files)
    if (isDifferent) this.#changed()
  }

  /** Follows these folders and no others; gives whether one is new. */
  #follow(folders: ReadonlySet<string>): boolean {
    let isNew = false
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue
      const watcher = this.#open(folder)
      if (watcher === undefined) continue
      this.#watchers.set(folder, watcher)
      isNew = true
    }
    return isNew
  }

  #open(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, { persistent: false }, this.#touched)
      watcher.on("error", () => {
        watcher.close()
        this.#watchers.delete(folder)
        this.#touched()
      })
      return watcher
    } catch (error) {
      // Systems allow only so many: what cannot be followed is looked at now and then.
      if (this.#poll === undefined) {
        this.#options.logger?.info("Files are looked at every two seconds", { error })
        this.#poll = setInterval(this.#touched, POLL)
        this.#poll.unref()
      }
      return undefined
    }
  }

  async #look(): Promise<Look> {
    const look: Look = { files: new Map(), folders: new Set(), newest: 0 }
    for (const path of this.#paths) {
      look.folders.add(await nearestFolder(dirname(path)))
      await visit(path, look, true)
    }
    return look
  }
}

async function visit(path: string, look: Look, isAsked: boolean): Promise<void> {
  if (look.files.size >= MOST_FILES) return
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isDirectory()) {
    if (!isAsked && !COUNTS.test(path)) return
    look.files.set(path, `${found.mtimeMs} ${found.size} ${found.ino}`)
    look.newest = Math.max(look.newest, found.mtimeMs)
    return
  }
  if (look.folders.has(path) && !isAsked) return
  look.folders.add(path)
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue
    // A link to a folder may lead to the folder it is in.
    if (entry.isSymbolicLink() && (await leadsToFolder(join(path, entry.name)))) continue
    await visit(join(path, entry.name), look, false)
  }
}

async function leadsToFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}

/** The folder, or the first above it that there is. */
async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  const above = dirname(path)
  return found?.isDirectory() === true || above === path ? path : await nearestFolder(above)
}

function sameFiles(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false
  for (const [path, what] of a) if (b.get(path) !== what) return false
  return true
}
