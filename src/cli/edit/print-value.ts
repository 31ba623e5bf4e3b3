/** Plain data, such as a source of a configuration. */
export type Plain =
  | string
  | number
  | boolean
  | null
  | readonly Plain[]
  | { readonly [key: string]: Plain }

/** Line break and indentation of a file. */
export interface Layout {
  readonly newline: string
  /** Indentation of one level. */
  readonly indent: string
}

// Maximum width of a value on one line.
const WIDTH = 88

/** Prints a value as JavaScript or JSON; long ones over several lines. */
export function printLiteral(
  value: Plain,
  style: "js" | "json",
  layout: Layout,
  before: string,
): string {
  const short = oneLine(value, style)
  if (typeof value !== "object" || value === null || before.length + short.length <= WIDTH) {
    return short
  }
  const inner = before + layout.indent
  const isList = Array.isArray(value)
  const members = Object.entries(value).map(([key, member]) => {
    const printed = printLiteral(member, style, layout, inner)
    return `${inner}${isList ? "" : `${printKey(key, style)}: `}${printed}`
  })
  const [start, end] = isList ? "[]" : "{}"
  const last = style === "js" ? "," : ""
  const { newline } = layout
  return `${start}${newline}${members.join(`,${newline}`)}${last}${newline}${before}${end}`
}

/** Prints a key of a member. */
export function printKey(key: string, style: "js" | "json"): string {
  return style === "js" && /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
}

function oneLine(value: Plain, style: "js" | "json"): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) {
    return `[${value.map((item: Plain) => oneLine(item, style)).join(", ")}]`
  }
  const members = Object.entries(value).map(
    ([key, member]) => `${printKey(key, style)}: ${oneLine(member, style)}`,
  )
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`
}

/** Prints a member as lines of YAML: `key:` with its value after or below it. */
export function yamlLines(key: string, value: Plain, indent: string): string[] {
  const name = yamlText(key)
  if (typeof value !== "object" || value === null) return [`${name}: ${yamlScalar(value)}`]
  if (Array.isArray(value)) return [`${name}: ${oneLine(value, "json")}`]
  const members = Object.entries(value)
  if (members.length === 0) return [`${name}: {}`]
  const inner = members.flatMap(([one, member]) => yamlLines(one, member, indent))
  return [`${name}:`, ...inner.map((line) => indent + line)]
}

function yamlScalar(value: string | number | boolean | null): string {
  return typeof value === "string" ? yamlText(value) : JSON.stringify(value)
}

// Words that are strings in every version of YAML stay unquoted.
function yamlText(text: string): string {
  const isWord =
    /^[A-Za-z./][\w./-]*$/.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan|\.[\d.].*)$/i.test(text)
  return isWord ? text : JSON.stringify(text)
}

/** Detects line breaks and indentation of a text. */
export function layoutOf(text: string): Layout {
  const indent = /^(?:\t| {2,8})(?=\S)/m.exec(text)?.[0] ?? "  "
  return { newline: text.includes("\r\n") ? "\r\n" : "\n", indent }
}
