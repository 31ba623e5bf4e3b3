import { stat } from "node:fs/promises"
import { homedir } from "node:os"
import { resolve } from "node:path"
import type { ResolvedConfig } from "../../config/model.ts"
import { referencesIn } from "../../config/references.ts"

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

/** Checks whether everything that a configuration refers to exists. */
export async function checkCredentials(
  config: ResolvedConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CredentialCheck[]> {
  const checks = new Map<string, { check: CredentialCheck; places: string[] }>()
  for (const { at, value } of placesOf(config)) {
    for (const { kind, name: text, path, hasDefault } of referencesIn(value)) {
      // The arguments may contain secrets.
      const name = kind === "command" ? (text.split(/\s/)[0] ?? "") : text
      const place = path === "" ? at : `${at}${path.startsWith("[") ? "" : "."}${path}`
      const entry = checks.get(`${kind} ${name}`)
      if (entry !== undefined) {
        entry.places.push(place)
        continue
      }
      const state = hasDefault ? "there" : await stateOf(kind, name, config.baseDir, env)
      const places = [place]
      checks.set(`${kind} ${name}`, { check: { kind, name, places, state }, places })
    }
  }
  return [...checks.values()].map(({ check }) => check)
}

function placesOf({ sources, server }: ResolvedConfig): { at: string; value: unknown }[] {
  return [
    ...sources
      .filter(({ disabled }) => !disabled)
      .map(({ name, config }) => ({ at: `sources.${name}`, value: config })),
    { at: "server", value: server },
  ]
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
