/** Plain data, as a source of a configuration is. */
export type Plain =
  | string
  | number
  | boolean
  | null
  | readonly Plain[]
  | { readonly [key: string]: Plain }

/** How a file is written. */
export interface Layout {
  readonly newline: string
  /** What one level is indented by. */
  readonly indent: string
}

// Whatever is longer is spread over lines.
const WIDTH = 88

/** A value as JavaScript or JSON; long ones over several lines, indented like their first one. */
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

/** A name as the key of a member. */
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

/** A member as lines of YAML: `key:` and its value below or behind it. */
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

// Words without quotes that stay texts in every version of YAML; everything else is quoted.
function yamlText(text: string): string {
  const isWord =
    /^[A-Za-z./][\w./-]*$/.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan|\.[\d.].*)$/i.test(text)
  return isWord ? text : JSON.stringify(text)
}

/** How a text is laid out, by its first lines that tell. */
export function layoutOf(text: string): Layout {
  const indent = /^(?:\t| {2,8})(?=\S)/m.exec(text)?.[0] ?? "  "
  return { newline: text.includes("\r\n") ? "\r\n" : "\n", indent }
}
