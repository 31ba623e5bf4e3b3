import { nodeBuiltin } from "../../internal/node-builtin.ts"
import { isRecord } from "../../internal/guards.ts"
import { setOwn } from "../../schema/json.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { parseReferences, type TextPart } from "../../internal/references.ts"
import type { MCPClientConfig } from "./config.ts"
import { configError, MCP_FIELDS, toPlainEntry } from "./config-fields.ts"

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
      variables.set(name, unquoted(trimmed.slice(equals + 1).trim()))
  }
  return variables
}

function unquoted(text: string): string {
  const quote = text.charAt(0)
  const end = quote === '"' || quote === "'" ? text.indexOf(quote, 1) : -1
  if (end !== -1) {
    const inner = text.slice(1, end)
    return quote === '"' ? inner.replaceAll("\\n", "\n") : inner
  }
  const comment = text.search(/\s#/)
  return comment === -1 ? text : text.slice(0, comment).trimEnd()
}

// Variables such as `${VAR}` in a config. Values are inserted once and not expanded again.

/** A value that a config asks its user for, as in VS Code's `inputs`. */
export interface MCPInputVariable {
  readonly id: string
  readonly type: string | undefined
  readonly description: string | undefined
  readonly default: string | undefined
  readonly options: readonly string[] | undefined
  /** It must not be echoed while typing, nor stored in plain text. */
  readonly isPassword: boolean
}

/** The values of variables. */
export interface VariableSource {
  readonly env: (name: string) => string | undefined
  readonly workspaceFolder: string | undefined
  readonly userHome: string | undefined
  readonly pathSeparator: string
  readonly input: (id: string) => Promise<string | undefined>
}

/** Why a variable cannot be filled in; contains its name but never a value. */
class VariableError extends Error {}

const MAX_NESTING = 8

/** opencode's `{env:NAME}` as `${env:NAME}`. */
export function withDollars(text: string): string {
  return text.replaceAll(/(?<!\$)\{(env:\w+(?::-[^{}]*)?)\}/g, (_, inner: string) => `\${${inner}}`)
}

/**
 * Fills in `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`, `${workspaceFolder}`,
 * `${userHome}` and opencode's `{env:VAR}`. A bare `$VAR` and any other form is text.
 *
 * Throws `VariableError` for a variable that is not set and has no default.
 */
export async function fillVariables(
  text: string,
  source: VariableSource,
  nesting: number = 0,
): Promise<string> {
  if (nesting > MAX_NESTING) throw new VariableError("has defaults nested too deeply.")
  let out = ""
  for (const part of parseReferences(withDollars(text), true)) {
    out += await valueOf(part, source, nesting)
  }
  return out
}

async function valueOf(part: TextPart, source: VariableSource, nesting: number): Promise<string> {
  switch (part.kind) {
    case "text":
      return part.text
    case "env": {
      const { name, fallback } = part
      const value = source.env(name)
      if (value !== undefined && (value !== "" || fallback === undefined)) return value
      if (fallback !== undefined) return await fillVariables(fallback, source, nesting + 1)
      return needed(undefined, name, `Set it, or write a default: \${${name}:-…}.`)
    }
    case "place":
      return placeOf(part.name, source)
    case "unknown":
      if (part.name === "input") return await inputOf(part.rest, source)
      throw notKnown(part.name)
    default:
      throw notKnown(part.kind)
  }
}

function notKnown(kind: string): VariableError {
  return new VariableError(
    `uses \${${kind}:…}, which is not known here. Use \${env:NAME} or \${input:id}.`,
  )
}

async function inputOf(id: string, source: VariableSource): Promise<string> {
  const cure = `Pass inputs, a function that answers for the id "${id}".`
  return needed(await source.input(id), `input:${id}`, cure)
}

function placeOf(name: string, source: VariableSource): string {
  switch (name) {
    case "userHome":
      return needed(source.userHome, name, "Pass userHome.")
    case "pathSeparator":
    case "/":
      return source.pathSeparator
    default: {
      const folder = needed(source.workspaceFolder, name, "Pass workspaceFolder.")
      if (name !== "workspaceFolderBasename") return folder
      return folder.split(/[\\/]/).findLast((one) => one !== "") ?? ""
    }
  }
}

function needed(value: string | undefined, name: string, cure: string): string {
  if (value !== undefined) return value
  throw new VariableError(`needs "${name}", which is not set. ${cure}`)
}

/** The parts of the platform that a config may refer to. */
interface PlatformVariables extends Omit<VariableSource, "input"> {
  readonly readFile: ((path: string) => Promise<string>) | undefined
}

type NodeModules = readonly [
  host: { readonly env: Readonly<Record<string, string | undefined>>; cwd(): string },
  os: { homedir(): string },
  path: { readonly sep: string },
  fs: { readFile(path: string, encoding: "utf8"): Promise<string> },
]

const NO_PLATFORM: PlatformVariables = {
  env: () => undefined,
  userHome: undefined,
  workspaceFolder: undefined,
  pathSeparator: "/",
  readFile: undefined,
}

/** Reads them from Node; empty on other platforms. */
export async function platformVariables(): Promise<PlatformVariables> {
  try {
    const names = ["process", "os", "path", "fs/promises"]
    const modules = await Promise.all(names.map((name) => nodeBuiltin(name)))
    const [host, os, path, fs] = modules as unknown as NodeModules
    return {
      env: (name) => (Object.hasOwn(host.env, name) ? host.env[name] : undefined),
      userHome: os.homedir(),
      workspaceFolder: host.cwd(),
      pathSeparator: path.sep,
      readFile: (name) => fs.readFile(name, "utf8"),
    }
  } catch {
    return NO_PLATFORM
  }
}
