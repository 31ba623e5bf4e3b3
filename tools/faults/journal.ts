import { openSync, readdirSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { now } from "./now.ts"

/** An event of a call on a worker, written before the worker continues. */
export interface JournalEntry {
  readonly what: "start" | "end" | "aborted"
  /** The id in the input of the call. An id of the protocol could be mixed up by the code under test. */
  readonly call: string
  /** This run of it. */
  readonly run: string
  readonly worker: string
  /** Epoch milliseconds. All processes of the lab have the same clock. */
  readonly at: number
  /** The number of items of a stream so far. */
  readonly items?: number | undefined
}

/** The entries of all workers, in the order of time. */
export interface Journal {
  readonly entries: readonly JournalEntry[]
  /** Lines that cannot be read. */
  readonly torn: readonly string[]
}

/**
 * A journal that one worker writes.
 *
 * Each entry is passed to the operating system before the worker continues, so that no entry is lost, however
 * the worker ends.
 */
export class JournalWriter {
  readonly #file: number
  readonly #worker: string
  #runs = 0

  constructor(folder: string, worker: string) {
    this.#worker = worker
    this.#file = openSync(join(folder, `${worker}.journal`), "a")
  }

  /** Records the start of a call; returns the name of this run. */
  start(call: string): string {
    const run = `${this.#worker}-${process.pid}-${++this.#runs}`
    this.note("start", call, run)
    return run
  }

  note(what: JournalEntry["what"], call: string, run: string, items?: number): void {
    const entry: JournalEntry = { what, call, run, worker: this.#worker, at: now(), items }
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
  }
}

/** Reads the journals of all workers in a folder. */
export function readJournal(folder: string): Journal {
  const entries: JournalEntry[] = []
  const torn: string[] = []
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".journal"))) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
      if (line === "") continue
      const entry = entryOf(line)
      if (entry === undefined) torn.push(line)
      else entries.push(entry)
    }
  }
  return { entries: entries.toSorted((one, other) => one.at - other.at), torn }
}

function entryOf(line: string): JournalEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<JournalEntry> | null
    const { what, call, run, worker, at } = entry ?? {}
    const isSound =
      (what === "start" || what === "end" || what === "aborted") &&
      [call, run, worker].every((text) => typeof text === "string") &&
      typeof at === "number"
    return isSound ? (entry as JournalEntry) : undefined
  } catch {
    return undefined
  }
}
