import { extname } from "node:path"
import type { ResolvedConfig, ResolvedSource } from "../../config/model.ts"
import { loadConfig } from "../../hub/config-file/load.ts"
import type { CommandIO } from "../model.ts"
import { fieldsText, oneLine } from "../output.ts"
import { COMMAND_SOURCES } from "../sources/index.ts"

/** Lists what opening a configuration would run and send, without running anything. */
export async function consequencesOf(file: string, { env }: CommandIO): Promise<readonly string[]> {
  if (/^\.[cm]?[jt]s$/.test(extname(file))) {
    return ["It is a program, and runs with everything that you may do. Read it first."]
  }
  return configConsequences(await loadConfig(file, { env }))
}

/** The same of a configuration that has been read. */
export function configConsequences({
  sources,
  server,
  middleware = [],
}: ResolvedConfig): readonly string[] {
  const opened = sources.filter(({ disabled }) => !disabled)
  const lines =
    opened.length === 0
      ? ["It has no sources."]
      : opened.map((source) => `"${source.name}" ${consequence(source)}`)
  // Only a script can have others.
  const modules = middleware.filter((entry) => typeof entry.use === "string")
  lines.push(...modules.map(({ use }) => `Calls run the module ${use as string}`))
  const settings = fieldsText(server, ": ")
  if (settings !== "") lines.push(`Serving it uses ${settings}`)
  return lines.map((line) => oneLine(line))
}

function consequence({ kind, config }: ResolvedSource): string {
  const sent = referencesIn(config)
  const secrets = sent.length === 0 ? "" : `; sends it ${sent.join(", ")}`
  return COMMAND_SOURCES[kind].consequence(config, secrets)
}

/** Finds `${file:…}`, `${command:…}` and `${env:…}` at any depth. */
function referencesIn(value: unknown): readonly string[] {
  const references = new Set<string>()
  const look = (part: unknown): void => {
    if (typeof part === "string") {
      for (const [reference] of part.matchAll(/\$\{[^{}]*\}/g)) references.add(reference)
    } else if (typeof part === "object" && part !== null) Object.values(part).forEach(look)
  }
  look(value)
  return [...references]
}
