// Names and addresses of sources.

import { redactText } from "../internal/redact.ts"
import { suggestedNamespace } from "../mcp/names.ts"

/** Generic host labels that do not identify a service. */
const GENERIC_LABELS: ReadonlySet<string> = new Set(["www", "api", "mcp", "docs", "raw", "rest"])

/** Whether a text is an address of a server, rather than a file or a command. */
export function isAddress(text: string): boolean {
  return /^(?:https?|wss?|nats|tls|rediss?):\/\//i.test(text)
}

/** Refuses invalid addresses, and those with a password: addresses appear in lists and logs. */
export function address(
  schemes: readonly string[],
  instead = "Put them into headers, and refer to them: ${env:NAME}.",
): (value: string) => string | undefined {
  return (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (url !== undefined && !schemes.includes(url.protocol.slice(0, -1))) {
      return `must start with ${schemes.map((scheme) => `"${scheme}://"`).join(" or ")}.`
    }
    if (url === undefined || url.hostname === "") {
      return `is not an address. Write it in full, such as "${schemes[0]}://example.com".`
    }
    return url.username === "" && url.password === ""
      ? undefined
      : `must not contain a user or a password. ${instead}`
  }
}

/** A URL without user, password and query; or a path. */
export function placeOf(text: string): string {
  if (!URL.canParse(text) || !isAddress(text)) return redactText(text)
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`
}

/** Derives a namespace from an address or a path: `petstore` for `./apis/petstore.yaml`. */
export function nameOfAddress(text: string): string {
  if (!isAddress(text)) return nameOfPath(text)
  let host: string
  try {
    host = new URL(text).hostname
  } catch {
    return "source"
  }
  if (host === "") return "source"
  // A numeric address has no name in it.
  if (/^[\d.]+$|^\[/.test(host)) return "local"
  const labels = host.split(".")
  const owned = labels.length > 1 ? labels.slice(0, -1) : labels
  return toNamespace(owned.findLast((label) => !GENERIC_LABELS.has(label)) ?? host)
}

export function nameOfPath(path: string): string {
  const last = path.split(/[\\/]/).findLast((part) => part !== "" && part !== "." && part !== "..")
  const name = (last ?? "source").replace(/\.(?:json|ya?ml|[cm]?[jt]sx?)$/i, "")
  return toNamespace(name.replace(/[._-](?:openapi|swagger)$/i, ""))
}

export function toNamespace(text: string): string {
  return suggestedNamespace(text.toLowerCase())
}

/** The text of a value that may be invalid: objects other than addresses have none. */
export function textOf(value: unknown): string {
  if (value instanceof URL) return value.href
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return typeof value === "string" ? value : ""
}
