/** A piece of code in a document, and the line it begins on. */
export interface Snippet {
  readonly line: number
  readonly code: string
}

/**
 * The TypeScript in a document: fenced blocks, and, in text that lost its fences, runs of lines that begin
 * like a statement and go on until their brackets are closed.
 */
export function snippetsIn(document: string): Snippet[] {
  // Pages that were saved from a viewer have a lone bar between their lines.
  const lines = document.split("\n").map((line) => (line.trim() === "|" ? "" : line))
  const snippets: Snippet[] = []
  for (let at = 0; at < lines.length; at++) {
    const found = FENCE.test(lines[at] ?? "") ? fenced(lines, at + 1) : unfenced(lines, at)
    if (found === undefined) continue
    if (found.code !== "") snippets.push({ line: at + 1, code: found.code })
    at = found.end
  }
  return snippets
}

interface Found {
  readonly code: string
  /** The last line that belongs to it. */
  readonly end: number
}

const FENCE = /^\s*```\w*(?: \|)?$/
const STATEMENT =
  /^\s*(?:import (?:type )?\{|export (?:default|const)|interface \w|class \w|type \w+ =|(?:async )?function \w+[<(]|const \w+ =|registry\.\w+\(.*\)$|\/\/ \w+\/|handler: )/

function fenced(lines: readonly string[], from: number): Found {
  const length = lines.slice(from).findIndex((line) => FENCE.test(line))
  const end = length === -1 ? lines.length : from + length
  const isTypeScript = lines[from - 1]?.trim() === "```ts"
  return { code: isTypeScript ? joined(lines.slice(from, end)) : "", end }
}

function unfenced(lines: readonly string[], from: number): Found | undefined {
  let end = from
  while (STATEMENT.test(lines[end] ?? "")) {
    let depth = 0
    do depth += balanceOf(lines[end++] ?? "")
    while (depth > 0 && end < lines.length)
  }
  return end === from ? undefined : { code: joined(lines.slice(from, end)), end: end - 1 }
}

function joined(lines: readonly string[]): string {
  return lines.filter((line) => line.trim() !== "").join("\n")
}

function balanceOf(line: string): number {
  let balance = 0
  for (const character of line) {
    if ("([{".includes(character)) balance++
    else if (")]}".includes(character)) balance--
  }
  return balance
}
