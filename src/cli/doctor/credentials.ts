import { stat } from "node:fs/promises"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { formatPath } from "../../config/error.ts"
import type { ResolvedConfig } from "../../config/model.ts"
import { isRecord } from "../../internal/guards.ts"
import { parseReferences } from "../../internal/references.ts"

/** A reference of a configuration, by name; its value is never shown. */
export interface CredentialCheck {
  readonly kind: "env" | "file" | "command"
  /** The variable, the file, or the program of a command. */
  readonly name: string
  /** Places that refer to it: `sources.github.auth`. */
  readonly places: readonly string[]
  /** `unknown` for commands, which run only when needed. */
  readonly state: "there" | "missing" | "unknown"
}

const MAX_DEPTH = 32

/** Checks whether everything that a configuration refers to exists. */
export async function checkCredentials(
  { sources, server, baseDir }: ResolvedConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CredentialCheck[]> {
  const references: Reference[] = []
  for (const { name, config, disabled } of sources) {
    if (!disabled) collect(config, ["sources", name], references)
  }
  collect(server, ["server"], references)
  const checks = new Map<string, CredentialCheck & { readonly places: string[] }>()
  for (const { kind, name: text, place, hasDefault } of references) {
    // The arguments may contain secrets.
    const name = kind === "command" ? (text.split(/\s/)[0] ?? "") : text
    const known = checks.get(`${kind} ${name}`)
    known?.places.push(place)
    if (known !== undefined) continue
    const state = hasDefault ? "there" : await stateOf(kind, name, baseDir, env)
    checks.set(`${kind} ${name}`, { kind, name, places: [place], state })
  }
  return [...checks.values()]
}

interface Reference extends Pick<CredentialCheck, "kind" | "name"> {
  readonly place: string
  readonly hasDefault: boolean
}

/** Lists every reference in a value. */
function collect(value: unknown, keys: readonly string[], references: Reference[]): void {
  if (keys.length > MAX_DEPTH) return
  if (typeof value === "string") {
    collectText(value, formatPath(keys), references, 0)
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, [...keys, String(index)], references)
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) collect(item, [...keys, key], references)
  }
}

function collectText(text: string, place: string, references: Reference[], depth: number): void {
  if (depth > MAX_DEPTH || !text.includes("${")) return
  for (const part of parseReferences(text)) {
    if (part.kind !== "env" && part.kind !== "file" && part.kind !== "command") continue
    const { kind, name } = part
    const fallback = kind === "env" ? part.fallback : undefined
    references.push({ place, kind, name, hasDefault: fallback !== undefined })
    collectText(kind === "env" ? (fallback ?? "") : name, place, references, depth + 1)
  }
}

async function stateOf(
  kind: CredentialCheck["kind"],
  name: string,
  baseDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CredentialCheck["state"]> {
  switch (kind) {
    case "env":
      return (env[name] ?? "") === "" ? "missing" : "there"
    case "file": {
      const path = name.startsWith("~/") ? resolve(homedir(), name.slice(2)) : name
      const stats = await stat(resolve(baseDir, path)).catch(() => undefined)
      return stats?.isFile() === true ? "there" : "missing"
    }
    case "command":
      return "unknown"
  }
}
