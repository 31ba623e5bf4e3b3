import { layoutOf, yamlLines, type Plain } from "./print-value.ts"

/** Adds a source to a configuration in YAML; `undefined` when `sources` is on one line. */
export function addToYaml(text: string, name: string, source: Plain): string | undefined {
  const { newline, indent } = layoutOf(text)
  const unit = indent.startsWith("\t") ? "  " : indent
  const lines = text.split(/\r?\n/)
  const at = lines.findIndex((line) => /^(?:sources|"sources"|'sources')\s*:/.test(line))
  if (at === -1) {
    const added = ["sources:", ...yamlLines(name, source, unit).map((line) => unit + line)]
    const isBare = text.trim() === ""
    return `${isBare ? "" : text.trimEnd() + newline + newline}${added.join(newline)}${newline}`
  }
  const end = endOfBlock(lines, at)
  const first = lines.slice(at + 1, end).find((line) => isContent(line))
  const head = lines[at] as string
  if (first === undefined) {
    // An empty value, `{}`, `null` and `~` all mean no sources.
    if (!/:\s*(?:\{\s*\}|null|~)?\s*(?:#.*)?$/.test(head)) return undefined
    lines[at] = head.replace(/:\s*(?:\{\s*\}|null|~)/, ":")
  }
  const inner = first === undefined ? unit : (/^ */.exec(first)?.[0] ?? unit)
  const added = first?.trimStart().startsWith("-")
    ? listItem(name, source, unit)
    : yamlLines(name, source, unit)
  lines.splice(end, 0, ...added.map((line) => inner + line))
  const edited = lines.join(newline)
  return edited.endsWith(newline) ? edited : edited + newline
}

function listItem(name: string, source: Plain, unit: string): string[] {
  const members = Object.entries({ namespace: name, ...(source as object) })
  const lines = members.flatMap(([key, value]) => yamlLines(key, value as Plain, unit))
  return lines.map((line, index) => `${index === 0 ? "- " : "  "}${line}`)
}

/** The index after the last line of a key's block, including its comments. */
function endOfBlock(lines: readonly string[], at: number): number {
  let end = at + 1
  for (let index = at + 1; index < lines.length; index++) {
    const line = lines[index] as string
    if (line.trim() === "") continue
    if (!/^(?:\s|-(?:\s|$))/.test(line)) break
    end = index + 1
  }
  return end
}

function isContent(line: string): boolean {
  return line.trim() !== "" && !line.trimStart().startsWith("#")
}
