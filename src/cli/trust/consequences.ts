import { extname } from "node:path"
import type { ResolvedConfig, ResolvedSource } from "../../config/model.ts"
import { loadConfig } from "../../hub/config-file/load.ts"
import { isRecord } from "../../internal/guards.ts"
import { redact } from "../../internal/redact.ts"
import { launchWarnings } from "../../sources/mcp/launch-warnings.ts"
import type { CommandIO } from "../model.ts"
import { oneLine } from "../output.ts"

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
  const settings = listed(server, ": ")
  if (settings !== "") lines.push(`Serving it uses ${settings}`)
  return lines.map((line) => oneLine(line))
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
  const env = { ...(isRecord(config.mcp) && (config.mcp["env"] as object)), ...config.env }
  return [`${serverOf(config.mcp, env)}${secrets}`, ...launchWarnings(env)].join(". ")
}

/** What an MCP server runs or calls, with all that decides what its program does. */
function serverOf(mcp: unknown, env: object): string {
  const entry = isRecord(mcp)
    ? mcp
    : /^https?:\/\//i.test(String(mcp))
      ? { url: mcp }
      : { command: mcp }
  const { command, args, cwd, envFile, inheritEnv } = entry as Readonly<Record<string, string>>
  if (command === undefined) {
    return `calls ${String(entry["url"] ?? entry["serverUrl"] ?? entry["httpUrl"])}`
  }
  const set = listed(env, "=")
  const inherited = Array.isArray(inheritEnv) ? inheritEnv.join(", ") : "your whole environment"
  return [
    `runs: ${[command, args ?? []].flat().join(" ")}`,
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(set === "" ? [] : [`with ${set}`]),
    ...(envFile === undefined ? [] : [`with the variables in ${envFile}`]),
    ...(inheritEnv === undefined ? [] : [`with ${inherited}`]),
  ].join("; ")
}

/** Lists fields with their values, secrets masked. */
function listed(fields: object, separator: string): string {
  return Object.entries(redact(fields) as object)
    .map(([name, value]) => `${name}${separator}${JSON.stringify(value)}`)
    .join(", ")
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
