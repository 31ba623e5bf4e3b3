import { nodeBuiltin } from "../../internal/node-builtin.ts"
import { isRecord } from "../../internal/guards.ts"
import { setOwn } from "../../schema/json.ts"
import { reasonOf } from "../../internal/message-text.ts"
import {
  fillTexts,
  type Reference,
  resolveReferences,
  withDollars,
} from "../../internal/references.ts"
import type { MCPClientConfig } from "./config.ts"
import { configError, MCP_FIELDS, toPlainEntry } from "./config-fields.ts"

/** Dependencies of reading an entry. */
export interface EntryReader {
  /** Fills in the variables of a text; `place` is its field. */
  readonly fill: (text: string, place: string) => Promise<string> | string
  readonly readFile: ((path: string) => Promise<string> | string) | undefined
  readonly warn: (message: string) => void
}

type Fields = Record<string, unknown>

/** Objects of the program: they are not copied. */
const OBJECTS: ReadonlySet<string> = new Set(["transport", "authProvider", "pins", "logger"])

/** Fields whose texts may contain variables. Those of an editor are left alone. */
const OWN_FIELDS: ReadonlySet<string> = new Set(
  [...Object.keys(MCP_FIELDS), "envFile"].filter((name) => !OBJECTS.has(name)),
)

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
  for (const name of Object.keys(fields)) {
    if (!OWN_FIELDS.has(name)) continue
    fields[name] = await fillTexts(fields[name], reader.fill, name)
  }
  await readEnvFile(server, fields, reader)
  return fields
}

/** Copies an entry with our field names. */
function renameAliases(server: string, entry: Readonly<Fields>, { warn }: EntryReader): Fields {
  const fields = toPlainEntry(entry, (key, message) => {
    throw configError(server, key, message)
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
export class VariableError extends Error {}

/**
 * Fills in `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`, `${workspaceFolder}`,
 * `${userHome}` and opencode's `{env:VAR}`. A bare `$VAR` and any other form is text.
 *
 * Throws `VariableError` for a variable that is not set and has no default.
 */
export async function fillVariables(text: string, source: VariableSource): Promise<string> {
  return await resolveReferences(withDollars(text), {
    valueOf: (part, resolve) => valueOf(part, source, resolve),
    error: (message) => new VariableError(message),
    isOfEditors: true,
  })
}

async function valueOf(
  part: Reference,
  source: VariableSource,
  resolve: (text: string) => Promise<string>,
): Promise<string> {
  switch (part.kind) {
    case "env": {
      const { name, fallback } = part
      const value = source.env(name)
      if (value !== undefined && (value !== "" || fallback === undefined)) return value
      if (fallback !== undefined) return await resolve(fallback)
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
