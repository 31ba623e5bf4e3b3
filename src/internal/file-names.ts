const LONGEST = 255

/**
 * The name of a file without folders and control characters; `undefined` if nothing remains.
 *
 * Names from outside may be paths, which must not lead out of a folder that a handler writes to.
 */
export function safeFileName(name: string | undefined): string | undefined {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? ""
  // Directional characters could hide the real extension of a name.
  const plain = last.replaceAll(
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    "",
  )
  const short = [...plain.trim()].slice(-LONGEST).join("")
  return short === "" || short === "." || short === ".." ? undefined : short
}

/** A `Content-Disposition` value; characters other than ASCII are encoded as in RFC 8187. */
export function contentDisposition(kind: "inline" | "attachment", name?: string): string {
  const safe = safeFileName(name)
  if (safe === undefined) return kind
  const ascii = safe.replaceAll(/[^\x20-\x7e]/gu, "_").replaceAll(/["\\%]/g, "_")
  if (ascii === safe) return `${kind}; filename="${ascii}"`
  const encoded = encodeURIComponent(safe).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

// A quoted value may contain `;`.
const PARAMETER = /;[\t ]*([^=;"\s]+)[\t ]*=[\t ]*("(?:[^"\\]|\\.)*"|[^;"]*)/g

/** The parameters of a `Content-Disposition` value, by lower-case name. */
export function dispositionParameters(value: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [, key = "", text = ""] of value.matchAll(PARAMETER)) {
    const isQuoted = text.startsWith('"')
    const plain = isQuoted ? text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : text.trim()
    if (!found.has(key.toLowerCase())) found.set(key.toLowerCase(), plain)
  }
  return found
}

/** The safe name of a file in a `Content-Disposition` value. */
export function fileNameOf(value: string | null | undefined): string | undefined {
  const parameters = dispositionParameters(value ?? "")
  const extended = /^utf-8'[^']*'(.*)$/i.exec(parameters.get("filename*") ?? "")?.[1]
  return safeFileName(decoded(extended) ?? parameters.get("filename"))
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}
