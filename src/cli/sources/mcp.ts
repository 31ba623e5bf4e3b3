import type { MCPSource } from "../../config/kinds/mcp.ts"
import { isRecord } from "../../internal/guards.ts"
import { toPlainEntry } from "../../sources/mcp/config-fields.ts"
import { launchWarnings } from "../../sources/mcp/launch-warnings.ts"
import type { CommandSource } from "../model.ts"
import { fieldsText } from "../output.ts"

export const mcp: CommandSource<MCPSource> = {
  option: {
    value: '"command"|url',
    description: "Tools of an MCP server, without a configuration",
  },
  atAddress: "an MCP server",
  sourceOf: async (server, headers) => (isWeb(server) ? { mcp: server, headers } : { mcp: server }),
  recognises({ at, text }) {
    if (!isWeb(text)) return at === "command"
    const { pathname, hostname } = new URL(text)
    return /\/(?:mcp|sse)\/?$/i.test(pathname) || hostname.startsWith("mcp.")
  },
  consequence(source, secrets) {
    const env = { ...(isRecord(source.mcp) && (source.mcp["env"] as object)), ...source.env }
    return [`${serverText(source.mcp, env)}${secrets}`, ...launchWarnings(env)].join(". ")
  },
  packages: () => ["@modelcontextprotocol/client"],
}

function isWeb(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** What an MCP server runs or calls, with all that decides what its program does. */
function serverText(server: unknown, env: object): string {
  const entry = isRecord(server)
    ? toPlainEntry(server)
    : isWeb(String(server))
      ? { url: server }
      : { command: server }
  const { command, url, args, cwd, envFile, inheritEnv } = entry as Readonly<Record<string, string>>
  if (command === undefined) {
    return `calls ${url}`
  }
  const set = fieldsText(env, "=")
  const inherited = Array.isArray(inheritEnv) ? inheritEnv.join(", ") : "your whole environment"
  return [
    `runs: ${[command, args ?? []].flat().join(" ")}`,
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(set === "" ? [] : [`with ${set}`]),
    ...(envFile === undefined ? [] : [`with the variables in ${envFile}`]),
    ...(inheritEnv === undefined ? [] : [`with ${inherited}`]),
  ].join("; ")
}
