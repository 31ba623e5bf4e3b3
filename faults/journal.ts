import { openSync, readdirSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { now } from "./now.ts"

/** What a worker did with a call, as written down before it went on. */
export interface JournalEntry {
  readonly what: "start" | "end" | "aborted"
  /** The call, by the id in its input: an id of the protocol could be mixed up by what is tested. */
  readonly call: string
  /** This run of it. */
  readonly run: string
  readonly worker: string
  /** Epoch milliseconds. All processes of the lab have the same clock. */
  readonly at: number
  /** How far a stream came. */
  readonly items?: number | undefined
}

/** What all workers wrote, in the order of time. */
export interface Journal {
  readonly entries: readonly JournalEntry[]
  /** Lines that cannot be read. */
  readonly torn: readonly string[]
}

/**
 * A journal that one worker writes.
 *
 * Each entry is handed to the kernel before the worker goes on, so that no way of ending it can hide one.
 */
export class JournalWriter {
  readonly #file: number
  readonly #worker: string
  #runs = 0

  constructor(folder: string, worker: string) {
    this.#worker = worker
    this.#file = openSync(join(folder, `${worker}.journal`), "a")
  }

  /** Notes that a call begins; returns the name of this run. */
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

/** Reads what all workers wrote into a folder. */
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
