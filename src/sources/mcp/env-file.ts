/** Parses a `.env` file: `NAME=value` per line, with quotes and comments but without expansion. */
export function parseEnvFile(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>()
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const trimmed = line.trim()
    const equals = trimmed.indexOf("=")
    if (equals <= 0 || trimmed.startsWith("#")) continue
    const name = trimmed
      .slice(0, equals)
      .replace(/^export\s+/, "")
      .trim()
    if (/^[A-Za-z_][\w.-]*$/.test(name))
      variables.set(name, valueOf(trimmed.slice(equals + 1).trim()))
  }
  return variables
}

function valueOf(text: string): string {
  const quote = text.charAt(0)
  const end = quote === '"' || quote === "'" ? text.indexOf(quote, 1) : -1
  if (end !== -1) {
    const inner = text.slice(1, end)
    return quote === '"' ? inner.replaceAll("\\n", "\n") : inner
  }
  const comment = text.search(/\s#/)
  return comment === -1 ? text : text.slice(0, comment).trimEnd()
}
