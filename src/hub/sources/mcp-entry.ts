import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { resolve as resolvePath, sep } from "node:path"
import type { MCPClientConfig } from "../../sources/mcp/config.ts"
import { fixedHeaders } from "../../core/call-headers.ts"
import { readEntry } from "../../sources/mcp/config-entry.ts"
import { mapTexts } from "../map-texts.ts"
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
  const tokens = new Tokens()
  const { envFile, ...filled } = await fill(
    texts as Record<string, unknown>,
    async (text) => tokens.hide(await resolve(ours(text))),
    name,
  )
  const fields = await readEntry(
    name,
    {
      ...filled,
      ...(typeof envFile === "string" && {
        envFile: resolvePath(baseDir, tokens.show(envFile) as string),
      }),
    },
    {
      variables: NOTHING_LEFT,
      readFile: (path) => readFile(path, "utf8"),
      warn: (message) => logger.warn(message),
    },
  )
  return { ...(tokens.show(fields) as MCPClientConfig), ...objects }
}

/** Converts opencode's `{env:NAME}` to our `${env:NAME}`. */
function ours(text: string): string {
  return text.replaceAll(/(?<!\$)\{env:(\w+)\}/g, (_, word: string) => `\${env:${word}}`)
}

/** All references have been resolved before. */
const NOTHING_LEFT = {
  env: () => undefined,
  workspaceFolder: () => undefined,
  userHome: () => undefined,
  pathSeparator: () => sep,
  input: async () => undefined,
}

/** Replaces resolved values by tokens, so that a secret with `${` in it is not resolved again. */
class Tokens {
  readonly #values = new Map<string, string>()

  hide(value: string): string {
    const token = `<${randomUUID()}>`
    this.#values.set(token, value)
    return token
  }

  show(value: unknown): unknown {
    return mapTexts(value, (text) =>
      text.replaceAll(/<[\da-f-]{36}>/g, (token) => this.#values.get(token) ?? token),
    )
  }
}
