import { isRecord } from "../../internal/guards.ts"
import { setOwn } from "../../schema/json.ts"
import { reasonOf } from "../../internal/message-text.ts"
import type { MCPClientConfig } from "./config.ts"
import { configError, MCP_FIELDS, toPlainEntry } from "./config-fields.ts"
import { VariableError } from "./config-variables.ts"

/** Dependencies of reading an entry. */
export interface EntryReader {
  /** Fills in the variables of a text. */
  readonly fill: (text: string) => Promise<string> | string
  readonly readFile: ((path: string) => Promise<string> | string) | undefined
  readonly warn: (message: string) => void
}

type Fields = Record<string, unknown>

/**
 * Converts an entry of a config file to an `MCPClientConfig`: renames aliases, fills in variables and reads
 * `envFile`. Unknown fields are kept, with one warning.
 */
export async function readEntry(
  server: string,
  entry: unknown,
  reader: EntryReader,
): Promise<MCPClientConfig> {
  if (!isRecord(entry)) {
    throw configError(server, undefined, `must be an object with "command" or "url".`)
  }
  const fields = renameAliases(server, entry, reader)
  // The variables of a disabled server need not be set.
  if (fields["disabled"] === true) return fields
  await fillFields(server, fields, reader)
  await readEnvFile(server, fields, reader)
  return fields
}

/** Copies an entry with our field names. */
function renameAliases(server: string, entry: Readonly<Fields>, { warn }: EntryReader): Fields {
  const from = new Map<string, string>()
  const fields = toPlainEntry(entry, (name, key) => {
    const other = from.get(name)
    if (other !== undefined) {
      throw configError(server, key, `means the same as "${other}". Remove one of them.`)
    }
    from.set(name, key)
  })
  const strange = Object.keys(fields).filter(
    (name) => !Object.hasOwn(MCP_FIELDS, name) && name !== "envFile",
  )
  if (strange.length > 0) {
    const names = strange.slice(0, 10).map((key) => `"${key}"`)
    warn(`MCP server "${server}": ignored unknown fields ${names.join(", ")}.`)
  }
  return fields
}

/** Fills in variables in the strings of a config file; other values stay. */
async function fillFields(server: string, fields: Fields, { fill }: EntryReader): Promise<void> {
  const one = async (field: string, value: unknown): Promise<unknown> => {
    if (typeof value !== "string") return value
    try {
      return await fill(value)
    } catch (thrown) {
      if (!(thrown instanceof VariableError)) {
        throw configError(server, field, `could not be filled in: ${reasonOf(thrown)}`, thrown)
      }
      throw configError(server, field, thrown.message)
    }
  }
  for (const field of ["command", "args", "cwd", "url", "env", "headers", "envFile"]) {
    const value = fields[field]
    if (Array.isArray(value)) {
      fields[field] = await Promise.all(value.map((item, index) => one(`${field}[${index}]`, item)))
    } else if (isRecord(value) && !(value instanceof URL)) {
      const filled = {}
      for (const [key, item] of Object.entries(value)) {
        setOwn(filled, key, await one(`${field}.${key}`, item))
      }
      fields[field] = filled
    } else if (value !== undefined) {
      fields[field] = await one(field, value)
    }
  }
}

async function readEnvFile(server: string, fields: Fields, reader: EntryReader): Promise<void> {
  const { envFile } = fields
  delete fields["envFile"]
  if (envFile === undefined) return
  if (typeof envFile !== "string") throw configError(server, "envFile", "must be a text.")
  if (reader.readFile === undefined) {
    throw configError(server, "envFile", `cannot be read on this platform. Pass readFile.`)
  }
  let text: string
  try {
    text = await reader.readFile(envFile)
  } catch (cause) {
    throw configError(server, "envFile", `cannot be read: ${reasonOf(cause)}`, cause)
  }
  const env = {}
  for (const [name, value] of parseEnvFile(text)) setOwn(env, name, value)
  fields["env"] = { ...env, ...(isRecord(fields["env"]) ? fields["env"] : {}) }
}

/** Parses a `.env` file: `NAME=value` per line, with quotes and comments but without expansion. */
export function parseEnvFile(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>()
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const trimmed = line.trim()
    const equals = trimmed.indexOf("=")
    if (equals <= 0 || trimmed.startsWith("#")) continue
    const name = trimmed
      .slice(0, equals)
      .replace(/^export\s+/, "")
      .trim()
    if (/^[A-Za-z_][\w.-]*$/.test(name))
      variables.set(name, valueOf(trimmed.slice(equals + 1).trim()))
  }
  return variables
}

function valueOf(text: string): string {
  const quote = text.charAt(0)
  const end = quote === '"' || quote === "'" ? text.indexOf(quote, 1) : -1
  if (end !== -1) {
    const inner = text.slice(1, end)
    return quote === '"' ? inner.replaceAll("\\n", "\n") : inner
  }
  const comment = text.search(/\s#/)
  return comment === -1 ? text : text.slice(0, comment).trimEnd()
}
