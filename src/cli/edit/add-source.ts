import { readJsonc } from "../../internal/jsonc.ts"
import { readYaml } from "../../sources/openapi/yaml.ts"
import { isRecord } from "../../internal/guards.ts"
import { addToLiteral } from "./add-to-literal.ts"
import { addToYaml } from "./add-to-yaml.ts"
import { printKey, printLiteral, yamlLines, type Layout, type Plain } from "./print-value.ts"
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
