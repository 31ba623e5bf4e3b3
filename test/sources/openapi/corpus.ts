import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { gunzipSync } from "node:zlib"
import { parseText } from "../../../src/sources/openapi/parse.ts"

/** One document of the corpus, as its index lists it. */
export interface CorpusEntry {
  /** Path below the corpus. */
  readonly file: string
  /** Operations that the entry file lists, without streaming twins. */
  readonly operations: number
  readonly version: string
  /** A document of the first table: real, and with a golden file. */
  readonly isNamed: boolean
}

/** Real documents lie beside the repository: they are large, and nothing of them is published. */
const corpusRoot = resolve(import.meta.dirname, "../../../../shared/corpus/openapi")

export const hasCorpus: boolean = existsSync(join(corpusRoot, "INDEX.md"))

/** Where a document lies. */
export function corpusPath(file: string): string {
  return join(corpusRoot, file)
}

/** The documents that the index lists; none where there is no corpus. */
export function corpusEntries(): CorpusEntry[] {
  if (!hasCorpus) return []
  const [named = "", ...others] = readFileSync(corpusPath("INDEX.md"), "utf8").split(
    "## Feature fixtures",
  )
  return [...rowsOf(named, true), ...rowsOf(others.join(""), false)]
}

/** The text of a document, unpacked. */
export function corpusText(file: string): string {
  const bytes = readFileSync(corpusPath(file))
  return (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")
}

/** A document as an object that nobody else has. */
export function corpusObject(file: string): Record<string, unknown> {
  return parseText(corpusText(file)).value as Record<string, unknown>
}

function rowsOf(text: string, isNamed: boolean): CorpusEntry[] {
  const entries: CorpusEntry[] = []
  let columns: string[] = []
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) continue
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim())
    if (cells[0] === "file") columns = cells
    const file = /^`([^`]+)`$/.exec(cells[0] ?? "")?.[1]
    if (file === undefined) continue
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? ""
    entries.push({ file, operations: Number(cell("ops")), version: cell("OpenAPI"), isNamed })
  }
  return entries
}
