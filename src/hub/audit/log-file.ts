import { appendFile, type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { CallError } from "../../core/errors.ts"
import { type AuditHead, type AuditKey, ChainReader, partsOf, sealedLine } from "./chain.ts"
import { lockFile, WRITER } from "./lock.ts"

export interface LogFileOptions {
  readonly key: AuditKey | undefined
  readonly maxBytes: number
  /** Number of full files that are kept. */
  readonly keep: number
}

/** A line, which gets its number when it is written. */
export interface Entry {
  /** The members of the line. */
  readonly fields: () => object
  seq?: number | undefined
}

/**
 * The current file of an audit log, which only this process writes, and the full ones before it.
 *
 * Of several lines, all are written or none: what a failed write has left is removed before the next one.
 */
export class LogFile {
  head: AuditHead
  readonly #path: string
  readonly #options: LogFileOptions
  readonly #unlock: () => Promise<void>
  #handle: FileHandle
  #inode: number
  #size: number
  #part: number
  /** The oldest file that was there at the start. */
  readonly #first: number
  /** It was begun by an earlier process, and has no line of this one. */
  #isForeign: boolean
  #isDirty = false

  private constructor(
    path: string,
    options: LogFileOptions,
    unlock: () => Promise<void>,
    state: {
      head: AuditHead
      handle: FileHandle
      inode: number
      size: number
      part: number
      first: number
    },
  ) {
    this.#path = path
    this.#options = options
    this.#unlock = unlock
    this.head = state.head
    this.#handle = state.handle
    this.#inode = state.inode
    this.#size = state.size
    this.#part = state.part
    this.#first = state.first
    this.#isForeign = state.size > 0
  }

  /** Opens a log for writing, and checks its last file. Sets a torn last line aside. */
  static async open(path: string, options: LogFileOptions): Promise<LogFile> {
    await mkdir(dirname(path), { recursive: true })
    const unlock = await lockFile(path)
    try {
      const reader = new ChainReader(options.key)
      // A file without a whole line continues the one before it.
      const parts = await partsOf(path)
      for (const one of parts.toReversed()) {
        if (reader.lines === 0) await readPart(reader, one.path, path)
      }
      const handle = await open(path, "a", 0o600)
      const { ino: inode, size } = await handle.stat()
      const { head } = reader
      const part = size > 0 ? reader.part : reader.part + 1
      const first = parts[0]?.part ?? part
      return new LogFile(path, options, unlock, { head, handle, inode, size, part, first })
    } catch (error) {
      await unlock()
      throw error
    }
  }

  /** Writes lines; with `isSynced` also to the disk itself. If it rejects, none of them is in the file. */
  async append(entries: readonly Entry[], isSynced: boolean): Promise<void> {
    if (this.#isDirty) await this.#handle.truncate(this.#size)
    this.#isDirty = false
    const found = await stat(this.#path).catch(() => undefined)
    if (found?.ino !== this.#inode || found.size !== this.#size) throw changed(this.#path)
    let batch = this.#seal(entries)
    if (this.#size > 0 && this.#size + batch.text.length > this.#options.maxBytes) {
      await this.#rotate()
      batch = this.#seal(entries)
    }
    this.#isDirty = true
    await this.#handle.appendFile(batch.text, "latin1")
    if (isSynced) await this.#handle.datasync()
    this.#isDirty = false
    this.#isForeign = false
    this.#size += batch.text.length
    this.head = batch.head
  }

  async close(): Promise<void> {
    try {
      if (this.#isDirty) await this.#handle.truncate(this.#size)
      await this.#handle.close()
    } finally {
      await this.#unlock()
    }
  }

  #seal(entries: readonly Entry[]): { readonly text: string; readonly head: AuditHead } {
    const { key } = this.#options
    let text = ""
    let { head } = this
    const add = (fields: object): void => {
      const line = sealedLine(fields, head, key)
      text += line.text
      ;({ head } = line)
    }
    const writer = { at: new Date().toISOString(), ...WRITER }
    if (this.#size === 0) {
      add({ phase: "file", ...writer, part: this.#part, oldest: this.#oldest() })
    } else if (this.#isForeign) add({ phase: "open", ...writer })
    for (const entry of entries) {
      entry.seq = head.seq + 1
      add(entry.fields())
    }
    return { text, head }
  }

  /** The number of the oldest file that is kept next to the current one. */
  #oldest(): number {
    return Math.max(this.#first, this.#part - this.#options.keep)
  }

  /** Gives the full file its number, and begins another. */
  async #rotate(): Promise<void> {
    await rename(this.#path, `${this.#path}.${this.#part}`)
    const full = this.#handle
    try {
      this.#handle = await open(this.#path, "ax", 0o600)
    } catch (error) {
      await rename(`${this.#path}.${this.#part}`, this.#path)
      throw error
    }
    this.#inode = (await this.#handle.stat()).ino
    this.#size = 0
    this.#part++
    await full.close()
    for (const { path, part } of await partsOf(this.#path)) {
      if (part !== undefined && part < this.#oldest()) await rm(path, { force: true })
    }
  }
}

/** Reads the head of the chain from a file. What is torn at the end of the current one is set aside, in a file of its own. */
async function readPart(reader: ChainReader, path: string, current: string): Promise<void> {
  await reader.read(path)
  const [problem] = reader.problems
  if (problem !== undefined) {
    throw new CallError(
      "DATA_LOSS",
      `The audit log "${path}" is not as it was written: line ${problem.line} ${problem.message}. Keep it, find out why (operations audit verify), and begin another file.`,
      { retryable: false, mayHaveExecuted: false },
    )
  }
  if (path !== current || reader.torn === "") return
  const { torn } = reader
  reader.torn = ""
  await appendFile(`${path}.torn`, `${torn}\n`, { encoding: "latin1", mode: 0o600 })
  const handle = await open(path, "r+")
  try {
    await handle.truncate((await handle.stat()).size - torn.length)
  } finally {
    await handle.close()
  }
}

function changed(path: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `Another program has changed, moved or removed the audit log "${path}". Check it (operations audit verify), and start this process again.`,
    { retryable: false },
  )
}
