import { createHash, createHmac } from "node:crypto"
import { createReadStream } from "node:fs"
import { readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { isRecord } from "../../internal/guards.ts"

/** The last line of an audit log: its number and its seal. A copy that is kept elsewhere shows whether the end was cut off. */
export interface AuditHead {
  readonly seq: number
  readonly seal: string
}

/** A key for seals and fingerprints. */
export type AuditKey = string | Uint8Array

/** Something in an audit log that its writer has not written there. */
export interface AuditProblem {
  readonly file: string
  /** Counts from 1. */
  readonly line: number
  readonly message: string
}

/** In characters: longer lines are not read as one. */
const MAX_LINE = 1_048_576

/** Problems that are collected: with a wrong key, every line is one. */
const MAX_PROBLEMS = 100

/** Without a key, a seal detects accidental damage only: every program that can write the file can compute it. */
function sealOf(text: string, key: AuditKey | undefined): string {
  const hash = key === undefined ? createHash("sha256") : createHmac("sha256", key)
  return hash.update(text, "latin1").digest("base64url")
}

/** A line that continues a chain. It is ASCII: no character of it can control a terminal or start another line. */
export function sealedLine(
  fields: object,
  { seq, seal }: AuditHead,
  key: AuditKey | undefined,
): { readonly text: string; readonly head: AuditHead } {
  const json = JSON.stringify({ seq: seq + 1, ...fields, prev: seal })
  const body = json.replaceAll(/[^ -~]/g, escaped).slice(0, -1)
  const head = { seq: seq + 1, seal: sealOf(body, key) }
  return { text: `${body},"seal":"${head.seal}"}\n`, head }
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}

/** The members of a line; `undefined` if it is not a JSON object. */
export function parseLine(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The files of a log, the oldest first: `audit.jsonl.1`, `audit.jsonl.2`, …, `audit.jsonl`. */
export async function partsOf(file: string): Promise<readonly { path: string; part?: number }[]> {
  const prefix = `${basename(file)}.`
  const names = await readdir(dirname(file))
  const parts = names
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,9}$/.test(name.slice(prefix.length)))
    .map((name) => ({
      path: join(dirname(file), name),
      part: Number(name.slice(prefix.length)),
    }))
    .toSorted((a, b) => a.part - b.part)
  return names.includes(basename(file)) ? [...parts, { path: file }] : parts
}

/** The lines of a file in groups. The last one is torn if no line break follows it. */
export async function* readLines(
  path: string,
): AsyncGenerator<{ readonly lines: readonly string[]; readonly torn: string }, void, undefined> {
  let torn = ""
  for await (const chunk of createReadStream(path, { encoding: "latin1" })) {
    const lines = `${torn}${chunk as string}`.split("\n")
    torn = lines.pop() ?? ""
    // Otherwise a file without line breaks would be copied with each chunk.
    if (torn.length > MAX_LINE) lines.push(torn.slice(0, MAX_LINE), (torn = ""))
    yield { lines, torn }
  }
}

/** Follows the chain through the files of a log, and collects what breaks it. */
export class ChainReader {
  readonly problems: AuditProblem[] = []
  head: AuditHead = { seq: 0, seal: "" }
  lines = 0
  /** What follows the last line break of the last file. */
  torn = ""
  /** The number of the last file. */
  part = 0
  readonly #key: AuditKey | undefined
  readonly #kept: AuditHead | undefined
  /** The number of the first file that is there, and of the first one that was kept when the last was begun. */
  #first: number | undefined
  #oldest = 1
  #file = ""
  #line = 0

  /** With `kept`, that line has to be there. */
  constructor(key: AuditKey | undefined, kept?: AuditHead) {
    this.#key = key
    this.#kept = kept
  }

  async read(path: string): Promise<void> {
    if (this.torn !== "") this.#report("is not complete, although another file follows")
    this.#file = path
    this.#line = 0
    for await (const { lines, torn } of readLines(path)) {
      for (const text of lines) this.#next(text)
      this.torn = torn
    }
  }

  /** Reports what is missing at the beginning and at the end. */
  finish(): void {
    const { seq = 0 } = this.#kept ?? {}
    if (this.head.seq < seq) {
      this.#report(`is the last one: lines ${this.head.seq + 1} to ${seq} were cut off`)
    }
    if (this.#first !== undefined && this.#first > this.#oldest) {
      this.#report(
        `belongs to a log whose files from ${this.#oldest} to ${this.#first - 1} are missing`,
      )
    }
  }

  #next(text: string): void {
    this.lines++
    this.#line++
    const at = text.lastIndexOf(`,"seal":"`)
    const body = text.slice(0, at)
    const seal = at === -1 ? "" : sealOf(body, this.#key)
    const fields = text === `${body},"seal":"${seal}"}` ? parseLine(text) : undefined
    const expected = this.head.seq + 1
    if (fields === undefined) {
      this.#report("was changed, inserted, or written with another key")
      // The next line refers to the seal that was here.
      const claimed = /^,"seal":"([\w-]{43})"\}$/.exec(text.slice(at))?.[1]
      this.head = { seq: expected, seal: claimed ?? this.head.seal }
      return
    }
    const seq = Number(fields["seq"])
    const isBeginning = this.#line === 1 && this.#begin(fields)
    if (!isBeginning && (seq !== expected || fields["prev"] !== this.head.seal)) {
      this.#report(
        seq > expected
          ? `follows a gap: lines ${expected} to ${seq - 1} are missing`
          : `is not where it was written: it has the number ${seq}, not ${expected}`,
      )
    }
    if (seq === this.#kept?.seq && seal !== this.#kept.seal) {
      this.#report("is not the one whose seal was kept: the log was replaced")
    }
    this.head = { seq, seal }
  }

  /** Reads the first line of a file. Returns whether the chain may begin here: files before it may have been removed by `keep`. */
  #begin({ phase, part, oldest }: Readonly<Record<string, unknown>>): boolean {
    if (phase !== "file") {
      this.#report("is not the first line of a file: lines before it are missing")
      return false
    }
    const isFirst = this.lines === 1 && Number(part) > 1
    if (this.lines > 1 && part !== this.part + 1) {
      this.#report(`begins file ${String(part)}, not ${this.part + 1}`)
    }
    this.part = Number(part)
    this.#first ??= this.part
    this.#oldest = Number(oldest)
    return isFirst
  }

  #report(message: string): void {
    if (this.problems.length >= MAX_PROBLEMS) return
    this.problems.push({ file: this.#file, line: this.#line, message })
  }
}
