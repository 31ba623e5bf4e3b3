const WIDTH = 80

/** A JSON value as TypeScript writes it: names without quotes, on one line where it fits. */
export function sourceText(value: unknown, indent = "", taken = 0): string {
  if (typeof value !== "object" || value === null) return literal(value)
  const isList = Array.isArray(value)
  const [open, close] = isList ? ["[", "]"] : ["{", "}"]
  const inner = `${indent}  `
  const parts = isList ? value.map((item) => [undefined, item] as const) : Object.entries(value)
  if (parts.length === 0) return open + close
  const flat = oneLine(value)
  if (indent.length + taken + flat.length <= WIDTH) return flat
  const lines = parts.map(([name, item]) => {
    const before = name === undefined ? "" : `${nameText(name)}: `
    return `${inner}${before}${sourceText(item, inner, before.length + 1)},`
  })
  return [open, ...lines, indent + close].join("\n")
}

function oneLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return literal(value)
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`
  const parts = Object.entries(value).map(([name, item]) => `${nameText(name)}: ${oneLine(item)}`)
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`
}

function literal(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`
  return value === undefined ? "undefined" : JSON.stringify(value)
}

/** In a literal, `__proto__: x` would set the prototype. */
function nameText(name: string): string {
  if (name === "__proto__") return '["__proto__"]'
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}
