import { CallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { isUnder, joinPath } from "./paths.ts"
import type { ScannerEntry, ScannerFS, ScanProblem } from "./options.ts"

/** A module of the scanned folder. */
export interface FoundFile {
  /** The path as the caller would write it: the scanned folder and the relative path. */
  readonly file: string
  /** The path to load; for a link the real path, so that the checked file is the loaded one. */
  readonly path: string
}

interface Place {
  readonly file: string
  readonly path: string
  /** `undefined` if the file system has no `realpath`. */
  readonly real: string | undefined
}

/**
 * Finds the modules under a folder, sorted by path, and the links that were not followed.
 *
 * It skips names that start with a dot, `node_modules`, declarations and tests. A link is followed if it stays
 * under the folder, and nothing is visited twice. Throws when a folder cannot be read.
 */
export async function findFiles(
  dir: string,
  fs: ScannerFS,
  extensions: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ files: FoundFile[]; problems: ScanProblem[] }> {
  const walk = new Walk(fs, extensions, signal)
  await walk.start(dir)
  return { files: walk.files.toSorted(byFile), problems: walk.problems.toSorted(byFile) }
}

class Walk {
  readonly files: FoundFile[] = []
  readonly problems: ScanProblem[] = []
  readonly #fs: ScannerFS
  readonly #extensions: readonly string[]
  readonly #signal: AbortSignal | undefined
  readonly #visited = new Set<string>()
  // Links are followed last, so that files that are reachable without them keep their plain path.
  readonly #links: {
    readonly file: string
    readonly path: string
    readonly entry: ScannerEntry
  }[] = []

  constructor(fs: ScannerFS, extensions: readonly string[], signal: AbortSignal | undefined) {
    this.#fs = fs
    this.#extensions = extensions
    this.#signal = signal
  }

  async start(dir: string): Promise<void> {
    const root = await this.#real(dir).catch((cause: unknown) => {
      throw unreadable(dir, this.#fs.cwd(), cause)
    })
    await this.#folder({ file: dir, path: dir, real: root })
    for (let link = this.#links.shift(); link !== undefined; link = this.#links.shift()) {
      await this.#link(link.file, link.path, link.entry, root)
    }
  }

  async #folder(folder: Place): Promise<void> {
    if (!this.#isNew(folder)) return
    for (const entry of await this.#read(folder)) {
      const { name } = entry
      if (name.startsWith(".") || name === "node_modules") continue
      const file = joinPath(folder.file, name)
      const path = joinPath(folder.path, name)
      if (entry.isSymlink === true) {
        if (entry.isDirectory || this.#isModule(name)) this.#links.push({ file, path, entry })
        continue
      }
      const real = folder.real === undefined ? undefined : joinPath(folder.real, name)
      if (entry.isDirectory) await this.#folder({ file, path, real })
      else if (entry.isFile) this.#file({ file, path, real })
    }
  }

  async #link(
    file: string,
    path: string,
    entry: ScannerEntry,
    root: string | undefined,
  ): Promise<void> {
    let real: string | undefined
    try {
      real = await this.#real(path)
    } catch (cause) {
      const reason = `is a link that leads nowhere: ${reasonOf(cause)}`
      this.problems.push({ file, reason, cause })
      return
    }
    if (real === undefined || root === undefined) {
      const reason =
        "is a link, and this file system cannot resolve it; add realpath() to fs, or put the file itself there"
      this.problems.push({ file, reason })
    } else if (!isUnder(root, real)) {
      const reason =
        "is a link that leads out of the scanned folder; put the file itself there, or scan the folder it is in"
      this.problems.push({ file, reason })
    } else if (entry.isDirectory) {
      await this.#folder({ file, path: real, real })
    } else {
      this.#file({ file, path: real, real })
    }
  }

  #file(place: Place): void {
    if (!this.#isModule(place.file) || !this.#isNew(place)) return
    this.files.push({ file: place.file, path: place.path })
  }

  async #read(folder: Place): Promise<ScannerEntry[]> {
    if (this.#signal?.aborted) throw aborted(this.#signal)
    const entries: ScannerEntry[] = []
    try {
      for await (const entry of this.#fs.readdir(folder.path)) {
        if (typeof entry?.name !== "string") {
          throw new TypeError("fs.readdir() returned an entry without a name")
        }
        entries.push(entry)
      }
    } catch (cause) {
      throw unreadable(folder.file, this.#fs.cwd(), cause)
    }
    return entries.toSorted((a, b) => compare(a.name, b.name))
  }

  async #real(path: string): Promise<string | undefined> {
    return await this.#fs.realpath?.(path)
  }

  #isNew({ path, real }: Place): boolean {
    const key = real ?? path
    if (this.#visited.has(key)) return false
    this.#visited.add(key)
    return true
  }

  #isModule(name: string): boolean {
    if (/\.d\.[cm]?ts$|\.(?:test|spec)\.[^/\\]*$/.test(name)) return false
    return this.#extensions.some((extension) => name.endsWith(extension))
  }
}

/** The error for an aborted scan. */
export function aborted(signal: AbortSignal): CallError {
  const { reason } = signal as { reason: unknown }
  return new CallError("ABORTED", "The scan was aborted by its signal.", { cause: reason })
}

function unreadable(folder: string, cwd: string, cause: unknown): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `The folder "${folder}" cannot be read: ${reasonOf(cause)}. Relative paths start at "${cwd}".`,
    { cause, mayHaveExecuted: false },
  )
}

function byFile(a: { readonly file: string }, b: { readonly file: string }): number {
  return compare(a.file, b.file)
}

// By code unit: the order must not depend on the locale.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
