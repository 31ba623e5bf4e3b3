// Reads the config files of various programs as `MCPClientConfig`s by server name.

import { CallError, isCallError } from "../../core/errors.ts"
import { isRecord, isString } from "../../internal/guards.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { readJsonc } from "../../internal/jsonc.ts"
import { ParseError } from "../../internal/located.ts"
import { textOf } from "../../schema/json.ts"
import { resolveServer } from "./config-resolve.ts"
import type { MCPClientConfig } from "./config.ts"
import { configError } from "./config-fields.ts"
import {
  fillVariables,
  platformVariables,
  readEntry,
  VariableError,
  type MCPInputVariable,
  type VariableSource,
} from "./config-entry.ts"

/** The values of variables in a config. */
export interface ReadServersOptions {
  /** `${VAR}` and `${env:VAR}`; default: the variables of this process. */
  readonly env?: ((name: string) => string | undefined) | undefined
  /** `${input:id}`; called once per id. */
  readonly inputs?:
    | ((input: MCPInputVariable) => string | undefined | Promise<string | undefined>)
    | undefined
  /** `${workspaceFolder}`; default: the working directory. */
  readonly workspaceFolder?: string | undefined
  /** `${userHome}`; default: the home directory. */
  readonly userHome?: string | undefined
  /** Reads `envFile`; default: the platform's file system. */
  readonly readFile?: ((path: string) => Promise<string> | string) | undefined
}

/** The servers of a config; an invalid one does not affect the others. */
export interface ReadServers {
  readonly servers: ReadonlyMap<string, MCPClientConfig>
  /** Why a server cannot be used. */
  readonly failures: ReadonlyMap<string, CallError>
  readonly warnings: readonly string[]
}

/** The keys under which programs store their servers. */
const PLACES = ["mcpServers", "servers", "context_servers", "mcp"] as const

/**
 * Reads a configuration: `{ mcpServers }`, VS Code's `{ servers, inputs }`, opencode's `{ mcp }`, or just
 * servers by name; as an object or as the text of a file, comments included.
 *
 * Throws `VALIDATION_ERROR` if the value is not a configuration.
 */
export async function readServers(
  config: unknown,
  options: ReadServersOptions = {},
): Promise<ReadServers> {
  const { entries, inputs } = findServers(typeof config === "string" ? parseConfig(config) : config)
  const platform = await platformVariables()
  const variables = sourceOf(options, platform, inputs)
  const warnings: string[] = []
  const readFile = options.readFile ?? platform.readFile
  const servers = new Map<string, MCPClientConfig>()
  const failures = new Map<string, CallError>()
  const read = await Promise.all(
    Object.entries(entries).map(async ([name, entry]) => {
      try {
        const server = await readEntry(name, entry, {
          fill: (text, place) => filled(text, variables, name, place),
          readFile,
          warn: (message) => warnings.push(message),
        })
        // Only to validate it: it is resolved again on connecting, with other defaults.
        if (server.disabled !== true) resolveServer(name, server)
        return [name, server] as const
      } catch (thrown) {
        return [name, failureOf(name, thrown)] as const
      }
    }),
  )
  for (const [name, result] of read) {
    if (isCallError(result)) failures.set(name, result)
    else servers.set(name, result)
  }
  return { servers, failures, warnings }
}

async function filled(
  text: string,
  variables: VariableSource,
  server: string,
  place: string,
): Promise<string> {
  try {
    return await fillVariables(text, variables)
  } catch (thrown) {
    if (thrown instanceof VariableError) throw configError(server, place, thrown.message)
    throw configError(server, place, `could not be filled in: ${reasonOf(thrown)}`, thrown)
  }
}

/** Parses the text of a config file. Errors quote nothing of it: it may contain secrets. */
function parseConfig(text: string): unknown {
  try {
    return readJsonc(text).value
  } catch (thrown) {
    if (!(thrown instanceof ParseError)) throw thrown
    const place = thrown.place === undefined ? "" : ` at line ${thrown.place.line}`
    const isPath = text.length < 1000 && !text.includes("{") && !text.includes("\n")
    throw new CallError(
      "VALIDATION_ERROR",
      `The MCP configuration is not JSON${place}: it ${thrown.message}. Pass the text of a config file, or its parsed object${isPath ? "; this looks like a file name" : ""}.`,
    )
  }
}

/** The entries of a config by name, and its `inputs`. */
function findServers(config: unknown): {
  readonly entries: Readonly<Record<string, unknown>>
  readonly inputs: unknown
} {
  if (!isRecord(config)) throw notConfigError("it is not an object")
  if (isEntry(config)) {
    throw notConfigError(`it is one server without a name; write { "mcpServers": { "name": … } }`)
  }
  for (const place of PLACES) {
    const value = Object.hasOwn(config, place) ? config[place] : undefined
    // A server may have one of these names, too.
    if (value === undefined || isEntry(value)) continue
    if (!isRecord(value)) throw notConfigError(`"${place}" is not an object of servers by name`)
    // In VS Code's settings it is one level deeper.
    if (place === "mcp" && isRecord(value["servers"]) && !isEntry(value["servers"])) {
      return findServers(value)
    }
    return { entries: value, inputs: config["inputs"] }
  }
  const entries = Object.entries(config).filter(([name]) => !name.startsWith("$"))
  return { entries: Object.fromEntries(entries), inputs: undefined }
}

/** Whether a value is the entry of one server, rather than several by name. */
function isEntry(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { command, url, serverUrl, httpUrl, transport } = value
  return (
    typeof command === "string" ||
    Array.isArray(command) ||
    [url, serverUrl, httpUrl].some((way) => typeof way === "string" || way instanceof URL) ||
    typeof transport === "function" ||
    (isRecord(transport) && typeof transport["start"] === "function")
  )
}

function sourceOf(
  { env, workspaceFolder, userHome, inputs: answer }: ReadServersOptions,
  platform: Awaited<ReturnType<typeof platformVariables>>,
  inputs: unknown,
): VariableSource {
  const list: readonly unknown[] = Array.isArray(inputs) ? inputs : []
  const declared = list.filter(isRecord)
  const asked = new Map<string, Promise<string | undefined>>()
  const ask = async (id: string): Promise<string | undefined> => {
    // An undeclared input is treated as a secret.
    const input = inputOf(id, declared.findLast((item) => item["id"] === id) ?? { password: true })
    return (await answer?.(input)) ?? input.default
  }
  return {
    env: env ?? platform.env,
    workspaceFolder: workspaceFolder ?? platform.workspaceFolder,
    userHome: userHome ?? platform.userHome,
    pathSeparator: platform.pathSeparator,
    input: (id) => {
      const answered = asked.get(id) ?? ask(id)
      asked.set(id, answered)
      return answered
    },
  }
}

function inputOf(id: string, item: Readonly<Record<string, unknown>>): MCPInputVariable {
  const { type, description, default: fallback, options, password } = item
  return {
    id,
    type: textOf(type),
    description: textOf(description),
    default: textOf(fallback),
    options: Array.isArray(options) ? options.filter(isString) : undefined,
    isPassword: password === true,
  }
}

function failureOf(name: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  return configError(name, undefined, `cannot be read: ${reasonOf(thrown)}`, thrown)
}

function notConfigError(why: string): CallError {
  return new CallError(
    "VALIDATION_ERROR",
    `This is not an MCP configuration: ${why}. Pass { "mcpServers": { "files": { "command": "…" } } }, VS Code's { "servers": … }, or servers by name.`,
  )
}
