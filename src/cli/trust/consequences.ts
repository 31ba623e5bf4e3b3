import { extname } from "node:path"
import type { ResolvedSource } from "../../config/model.ts"
import { loadConfig } from "../../hub/config-file/load.ts"
import type { CommandIO } from "../model.ts"
import { oneLine } from "../output.ts"

/** Lists what opening a configuration would run and send, without running anything. */
export async function consequencesOf(file: string, { env }: CommandIO): Promise<readonly string[]> {
  if (/^\.[cm]?[jt]s$/.test(extname(file))) {
    return ["It is a program, and runs with everything that you may do. Read it first."]
  }
  const { sources, middleware = [] } = await loadConfig(file, { env })
  const opened = sources.filter(({ disabled }) => !disabled)
  const lines =
    opened.length === 0
      ? ["It has no sources."]
      : opened.map((source) => oneLine(`"${source.name}" ${consequence(source)}`))
  // Only a script can have others.
  const modules = middleware.filter((entry) => typeof entry.use === "string")
  return [...lines, ...modules.map(({ use }) => oneLine(`Calls run the module ${use as string}`))]
}

function consequence({ config }: ResolvedSource): string {
  const sent = referencesIn(config)
  const secrets = sent.length === 0 ? "" : `; sends it ${sent.join(", ")}`
  if ("scan" in config) return `runs the modules in ${config.scan}`
  if ("openapi" in config) {
    const where = config.baseUrl === undefined ? "the servers it names" : config.baseUrl
    return `reads ${config.openapi} and calls ${where}${secrets}`
  }
  if ("remote" in config) return `calls ${config.remote}${secrets}`
  return `${serverOf(config.mcp)}${secrets}`
}

function serverOf(mcp: unknown): string {
  if (typeof mcp === "string") {
    return /^https?:\/\//i.test(mcp) ? `calls ${mcp}` : `runs: ${mcp}`
  }
  const { command, args, url } = mcp as { command?: unknown; args?: unknown; url?: unknown }
  if (typeof command !== "string") return `calls ${String(url)}`
  return `runs: ${[command, ...(Array.isArray(args) ? args : [])].join(" ")}`
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
