import { isRecord } from "../../internal/guards.ts"
import { redactText } from "../../internal/redact.ts"
import { isSecretName } from "../../internal/secret-names.ts"
import { toPlainEntry } from "../../sources/mcp/config-fields.ts"
import type { Plain } from "../edit/print-value.ts"

/** An entry of an editor for a shared configuration. */
interface SharedEntry {
  readonly entry: Plain
  /** The variables that take the place of its secrets. */
  readonly variables: readonly string[]
}

/**
 * Converts an editor's entry for a shared configuration: every secret becomes a reference to a variable. `undefined`
 * when it is not an entry.
 */
export function shareableEntry(name: string, written: unknown): SharedEntry | undefined {
  if (!isRecord(written)) return undefined
  const entry = toPlainEntry(written)
  const shared: Record<string, Plain> = {}
  for (const key of ["type", "command", "args", "url", "cwd", "envFile"]) {
    const item = entry[key]
    if (typeof item === "string") shared[key] = key === "url" ? plainUrl(item, name) : item
    if (Array.isArray(item)) shared[key] = shareableArgs(name, item)
  }
  if (!("command" in shared) && !("url" in shared)) return undefined
  const { env, headers, disabled } = entry
  if (disabled === true) shared["disabled"] = true
  if (isRecord(env)) {
    shared["env"] = mapped(env, (key, value) => (mayBeSecret(key, value) ? reference(key) : value))
  }
  if (isRecord(headers)) {
    shared["headers"] = mapped(headers, (key) => reference(variable(name, key)))
  }
  const before = JSON.stringify(entry)
  const [, ...references] = JSON.stringify(shared).split("${env:")
  const variables = new Set(references.map((text) => text.split("}", 1)[0] as string))
  return {
    entry: shared,
    variables: [...variables].filter((one) => !before.includes(reference(one))),
  }
}

/** Text without spaces, in which letters and digits are mixed, such as a key; not the flag of a program. */
const RANDOM_TEXT = /^(?!--)(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w+=-]{20,}$/

/** Whether a setting is likely to be a secret. If in doubt it is one: the user is asked to export it. */
function mayBeSecret(name: string, value: string): boolean {
  if (isSecretName(name, "setting") || redactText(value) !== value) return true
  return RANDOM_TEXT.test(value) || (URL.canParse(value) && new URL(value).username !== "")
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

/** Replaces texts; existing references stay. */
function mapped(
  values: Readonly<Record<string, unknown>>,
  change: (key: string, value: string) => string,
): Plain {
  const entries = Object.entries(values).flatMap(([key, value]): [string, Plain][] => {
    if (typeof value !== "string") return []
    return [[key, refers(value) ? value : change(key, value)]]
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
    if (value !== undefined && isSecretName(flag, "setting")) {
      return `${flag}=${reference(variable(server, flag))}`
    }
    return redactText(text) === text ? text : reference(variable(server, "token"))
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
