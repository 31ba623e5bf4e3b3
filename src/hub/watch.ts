import { watch, type FSWatcher } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { isDeepStrictEqual } from "node:util"
import type { Logger } from "../internal/logger.ts"
import { systemClock, wallTimeOf } from "../internal/clock.ts"

/** A running watcher. */
export interface Watching {
  close(): void
}

/** Options of `watchFiles`. */
export interface WatchOptions {
  /** Milliseconds without a change before `changed` is called; default: 100. */
  readonly debounceMs?: number | undefined
  /** Changes after this time, in milliseconds since 1970, are reported at once; default: now. */
  readonly since?: number | undefined
  readonly logger?: Logger | undefined
}

/** Files in folders that count: modules and what they import, not logs and the like. */
const WATCHED_FILES = /\.(?:[cm]?[jt]sx?|json)$/
const MAX_FILES = 20_000
const POLL_MS = 2000
/** Maximum delay of a check while changes keep coming, in milliseconds. */
const MAX_WAIT = 2000

/**
 * Calls `changed` when files, or files under folders, have changed: once for many changes at a time, and
 * only when something is different. Does not keep the process alive.
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

/** State of the files at one check. */
interface Snapshot {
  /** Time, size and inode of each file. */
  readonly files: Map<string, string>
  /** Folders to watch. */
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
  #isScanning = false
  #isDirty = false
  #isClosed = false

  constructor(paths: readonly string[], changed: () => void, options: WatchOptions) {
    this.#paths = paths
    this.#changed = changed
    this.#options = options
    // File times have fractions of milliseconds: a file written just now is older than the next full millisecond.
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
    if (this.#timer !== undefined && now - this.#waitingSince > MAX_WAIT) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#waitingSince = undefined
      void this.#check()
    }, debounceMs)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    if (this.#isScanning) {
      this.#isDirty = true
      return
    }
    this.#isScanning = true
    try {
      do {
        this.#isDirty = false
        const look = await this.#takeSnapshot()
        if (this.#isClosed) return
        // New folders are watched first, and then read once more.
        if (this.#follow(look.folders)) this.#isDirty = true
        this.#compare(look)
      } while (this.#isDirty && !this.#isClosed)
    } finally {
      this.#isScanning = false
    }
  }

  #compare({ files, newest }: Snapshot): void {
    const last = this.#last
    this.#last = files
    // A time in the future is ignored: it would stay newer for ever.
    const isDifferent =
      last === undefined
        ? newest > this.#since && newest <= wallTimeOf(systemClock)
        : !isDeepStrictEqual(last, files)
    if (isDifferent) this.#changed()
  }

  /** Watches exactly these folders; returns whether one is new. */
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
      // Systems limit the number of watchers: other folders are polled.
      if (this.#poll === undefined) {
        this.#options.logger?.info("Files are polled every two seconds", { error })
        this.#poll = setInterval(this.#touched, POLL_MS)
        this.#poll.unref()
      }
      return undefined
    }
  }

  async #takeSnapshot(): Promise<Snapshot> {
    const look: Snapshot = { files: new Map(), folders: new Set(), newest: 0 }
    for (const path of this.#paths) {
      look.folders.add(await nearestFolder(dirname(path)))
      await visit(path, look, true)
    }
    return look
  }
}

async function visit(path: string, snapshot: Snapshot, isAsked: boolean): Promise<void> {
  if (snapshot.files.size >= MAX_FILES) return
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return
  if (!stats.isDirectory()) {
    if (!isAsked && !WATCHED_FILES.test(path)) return
    snapshot.files.set(path, `${stats.mtimeMs} ${stats.size} ${stats.ino}`)
    snapshot.newest = Math.max(snapshot.newest, stats.mtimeMs)
    return
  }
  if (snapshot.folders.has(path) && !isAsked) return
  snapshot.folders.add(path)
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue
    // A link to a folder may lead to its own parent.
    if (entry.isSymbolicLink() && (await leadsToFolder(join(path, entry.name)))) continue
    await visit(join(path, entry.name), snapshot, false)
  }
}

async function leadsToFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}

/** The folder, or its nearest existing ancestor. */
async function nearestFolder(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined)
  const above = dirname(path)
  return stats?.isDirectory() === true || above === path ? path : await nearestFolder(above)
}
