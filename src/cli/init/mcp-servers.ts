import { isRecord } from "../../internal/guards.ts"
import { isSecretName } from "../../internal/secret-names.ts"
import type { Plain } from "../edit/print-value.ts"

/**
 * Converts an editor's entry for a shared configuration: every possible credential
 * becomes a reference to a variable. `undefined` when it is not an entry.
 */
export function shareableEntry(name: string, entry: unknown): Plain | undefined {
  if (!isRecord(entry)) return undefined
  const shared: Record<string, Plain> = {}
  for (const key of ["type", "command", "args", "url", "serverUrl", "httpUrl", "cwd"]) {
    const value = entry[key]
    if (typeof value === "string") shared[key] = key.endsWith("rl") ? plainUrl(value, name) : value
    if (key === "args" && Array.isArray(value)) shared[key] = shareableArgs(name, value)
  }
  if (!["command", "url", "serverUrl", "httpUrl"].some((key) => key in shared)) return undefined
  const { env, headers } = entry
  if (isRecord(env)) shared["env"] = byReference(env, (key) => key)
  if (isRecord(headers)) {
    shared["headers"] = byReference(headers, (key) => variable(name, key))
  }
  return shared
}

/** The name of a variable from words: `GITHUB_AUTHORIZATION`. */
function variable(...words: readonly string[]): string {
  const name = words
    .join("_")
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
  return /^[A-Z]/.test(name) ? name : `MCP_${name}`
}

/** Replaces values by references to variables; existing references stay. */
function byReference(
  values: Readonly<Record<string, unknown>>,
  variableOf: (key: string) => string,
): Plain {
  const entries = Object.entries(values).flatMap(([key, value]): [string, Plain][] => {
    if (typeof value !== "string") return []
    return [[key, refers(value) ? value : reference(variableOf(key))]]
  })
  return Object.fromEntries(entries)
}

function shareableArgs(server: string, args: readonly unknown[]): string[] {
  let isValue = false
  return args.map((arg) => {
    const text = String(arg)
    const [flag = "", value] = text.split(/=(.*)/s)
    const isSecret = isValue && !text.startsWith("-")
    isValue = text.startsWith("-") && value === undefined && isSecretName(text, "setting")
    if (refers(text)) return text
    if (isSecret) return reference(variable(server, "token"))
    if (value === undefined || !isSecretName(flag, "setting")) return text
    return `${flag}=${reference(variable(server, flag))}`
  })
}

/** A URL without its credentials. */
function plainUrl(text: string, server: string): string {
  if (refers(text) || !URL.canParse(text)) return text
  const url = new URL(text)
  if (url.username === "" && url.password === "" && url.search === "") return text
  url.username = ""
  url.password = ""
  const kept = [...url.searchParams].map(([key, value]) =>
    isSecretName(key, "setting") ? `${key}=${reference(variable(server, key))}` : `${key}=${value}`,
  )
  url.search = ""
  return kept.length === 0 ? url.href : `${url.href}?${kept.join("&")}`
}

function refers(text: string): boolean {
  return text.includes("${")
}

function reference(name: string): string {
  return `\${env:${name}}`
}
