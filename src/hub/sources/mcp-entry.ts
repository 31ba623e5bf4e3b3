import { readFile } from "node:fs/promises"
import { resolve as resolvePath } from "node:path"
import type { MCPClientConfig } from "../../sources/mcp/config.ts"
import { fixedHeaders } from "../../core/call-headers.ts"
import { readEntry } from "../../sources/mcp/config-entry.ts"
import { fill } from "../resolve-references.ts"
import type { SourceContext } from "../model.ts"

/** Members that are objects of the program and must not be copied. */
const OBJECTS = ["transport", "authProvider", "pins", "logger"] as const

/**
 * Converts an entry of any editor to a configuration of ours: other names of the same options are
 * translated, editors' variables and our references are resolved.
 */
export async function readMCPEntry(
  entry: MCPClientConfig,
  name: string,
  { resolve, baseDir, logger }: Pick<SourceContext, "resolve" | "baseDir" | "logger">,
): Promise<MCPClientConfig> {
  const { headers } = entry
  const depends = headers !== undefined && fixedHeaders(headers) === undefined
  const objects = Object.fromEntries(
    [...OBJECTS, ...(depends ? (["headers"] as const) : [])]
      .filter((key) => Object.hasOwn(entry, key))
      .map((key) => [key, entry[key]]),
  )
  const texts = Object.fromEntries(
    Object.entries(entry).filter(([key]) => !Object.hasOwn(objects, key)),
  )
  const filled = await fill(texts, (text) => resolve(ours(text)), name)
  const fields = await readEntry(name, filled, {
    // All references have been resolved: a secret with `${` in it stays as it is.
    fill: (text) => text,
    readFile: (path) => readFile(resolvePath(baseDir, path), "utf8"),
    warn: (message) => logger.warn(message),
  })
  return { ...fields, ...objects }
}

/** Converts opencode's `{env:NAME}` to our `${env:NAME}`. */
function ours(text: string): string {
  return text.replaceAll(/(?<!\$)\{env:(\w+)\}/g, (_, word: string) => `\${env:${word}}`)
}
