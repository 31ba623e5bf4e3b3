import { readJsonc } from "../../internal/jsonc.ts"
import { readYaml } from "../../sources/openapi/yaml.ts"
import { isRecord } from "../../internal/guards.ts"
import { addToLiteral } from "./add-to-literal.ts"
import {
  printKey,
  printLiteral,
  yamlLines,
  type Layout,
  type Plain,
  layoutOf,
} from "./print-value.ts"
import { sameData } from "../../internal/same-data.ts"

export type { Plain } from "./print-value.ts"

/** Language of a configuration. */
export type ConfigFormat = "js" | "json" | "yaml"

/** The language of a file, by its name. */
export function formatOf(file: string): ConfigFormat {
  if (/\.jsonc?$/i.test(file)) return "json"
  return /\.ya?ml$/i.test(file) ? "yaml" : "js"
}

/**
 * Adds a source to the text of a configuration; everything else, comments included, stays unchanged.
 *
 * `undefined` when no place is found: JSON and YAML are parsed again to verify that exactly
 * this source was added. JavaScript can only be verified by running it.
 */
export function addSource(
  text: string,
  format: ConfigFormat,
  name: string,
  source: Plain,
): string | undefined {
  if (format === "js") return addToLiteral(text, "js", name, source)
  try {
    const before = read(text, format)
    const added =
      format === "yaml" ? addToYaml(text, name, source) : addToLiteral(text, "json", name, source)
    if (added === undefined) return undefined
    const expected = plain(withSource(before, name, source))
    return sameData(plain(read(added, format)), expected) ? added : undefined
  } catch {
    return undefined
  }
}

const LAYOUT: Layout = { newline: "\n", indent: "  " }

/** The text of a source, to add under `sources` by hand. */
export function sourceSnippet(format: ConfigFormat, name: string, source: Plain): string {
  if (format === "yaml") return yamlLines(name, source, LAYOUT.indent).join("\n")
  const end = format === "js" ? "," : ""
  return `${printKey(name, format)}: ${printLiteral(source, format, LAYOUT, "")}${end}`
}

/** The expected configuration after the edit. */
function withSource(config: unknown, name: string, source: Plain): unknown {
  const before = isRecord(config) ? config : {}
  const { sources } = before
  if (!Array.isArray(sources)) {
    return { ...before, sources: { ...(sources as object | null | undefined), [name]: source } }
  }
  return { ...before, sources: [...sources, { namespace: name, ...(source as object) }] }
}

function read(text: string, format: "json" | "yaml"): unknown {
  if (format === "yaml") return text.trim() === "" ? undefined : readYaml(text, "config").value
  return readJsonc(text).value
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

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
