import { isPlainRecord, setOwn } from "../../schema/json.ts"
import { reasonOf } from "../../internal/describe.ts"
import type { MCPClientConfig } from "./config.ts"
import { configError } from "./config-issues.ts"
import { MCP_FIELDS } from "./config-fields.ts"
import { fillVariables, VariableError } from "./config-variables.ts"
import type { VariableSource } from "./config-variables.ts"
import { parseEnvFile } from "./env-file.ts"

/** Dependencies of reading an entry. */
export interface EntryReader {
  readonly variables: VariableSource
  readonly readFile: ((path: string) => Promise<string> | string) | undefined
  readonly warn: (message: string) => void
}

type Fields = Record<string, unknown>

/** Alternative names of our fields. */
const ALIASES: Readonly<Record<string, string>> = {
  environment: "env",
  serverUrl: "url",
  httpUrl: "url",
  transportType: "type",
}
const READ_HERE = ["enabled", "envFile"]

/**
 * Converts an entry of a config file to an `MCPClientConfig`: renames aliases, fills in variables and reads
 * `envFile`. Unknown fields are kept, with one warning.
 */
export async function readEntry(
  server: string,
  entry: unknown,
  reader: EntryReader,
): Promise<MCPClientConfig> {
  if (!isPlainRecord(entry)) {
    throw configError(server, undefined, `must be an object with "command" or "url".`)
  }
  const fields = renameAliases(server, entry, reader)
  if (fields["enabled"] === false) fields["disabled"] = true
  delete fields["enabled"]
  // The variables of a disabled server need not be set.
  if (fields["disabled"] === true) return fields
  await fillFields(server, fields, reader.variables)
  await readEnvFile(server, fields, reader)
  return fields
}

/** Copies an entry with our field names. */
function renameAliases(server: string, entry: Readonly<Fields>, { warn }: EntryReader): Fields {
  const fields: Fields = {}
  const from = new Map<string, string>()
  const strange: string[] = []
  for (const [key, value] of Object.entries(entry)) {
    if (value === undefined || value === null) continue
    // "transport" is either a transport type or a transport object.
    const isType = key === "transport" && typeof value === "string"
    const name = isType ? "type" : Object.hasOwn(ALIASES, key) ? (ALIASES[key] ?? key) : key
    const other = from.get(name)
    if (other !== undefined) {
      throw configError(server, key, `means the same as "${other}". Remove one of them.`)
    }
    from.set(name, key)
    setOwn(fields, name, value)
    if (!Object.hasOwn(MCP_FIELDS, name) && !READ_HERE.includes(name)) strange.push(key)
  }
  if (strange.length > 0) {
    const names = strange.slice(0, 10).map((key) => `"${key}"`)
    warn(`MCP server "${server}": ignored unknown fields ${names.join(", ")}.`)
  }
  return fields
}

/** Fills in variables in the strings of a config file; other values stay. */
async function fillFields(server: string, fields: Fields, source: VariableSource): Promise<void> {
  const one = async (field: string, value: unknown): Promise<unknown> => {
    if (typeof value !== "string") return value
    try {
      return await fillVariables(value, source)
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
      fields[field] = await Promise.all(
        value.map((item, index) => one(`${field}[${index}]`, asText(item))),
      )
    } else if (isPlainRecord(value) && !(value instanceof URL)) {
      const filled = {}
      for (const [key, item] of Object.entries(value)) {
        setOwn(filled, key, await one(`${field}.${key}`, asText(item)))
      }
      fields[field] = filled
    } else if (value !== undefined) {
      fields[field] = await one(field, value)
    }
  }
}

/** Converts numbers and booleans, which are often written without quotation marks. */
function asText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value
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
  fields["env"] = { ...env, ...(isPlainRecord(fields["env"]) ? fields["env"] : {}) }
}
