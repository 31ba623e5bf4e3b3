// MCP servers: sources, and entries in the format of editors, which have alternative field names and fields of their own.

import { CALL_HEADERS } from "../../core/call-headers.ts"
import { isRecord } from "../../internal/guards.ts"
import { redactText } from "../../internal/redact.ts"
import type { MCPClientConfig } from "../../sources/mcp/config.ts"
import { ALIASES, MCP_FIELDS, toPlainEntry } from "../../sources/mcp/config-fields.ts"
import { splitCommandLine } from "../command-line.ts"
import {
  checkNames,
  describe,
  field,
  fields,
  kindOf,
  membersOf,
  recordOf,
  type Shape,
  text,
} from "../field-checks.ts"
import { address, isAddress, nameOfAddress, placeOf, textOf } from "../names.ts"
import { toNamespace } from "../names.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** The tools of an MCP server. */
export interface MCPSource
  extends
    CommonSource,
    Pick<
      MCPClientConfig,
      "headers" | "env" | "blockPrivate" | "sessions" | "connectTimeout" | "resources" | "prompts"
    > {
  /** A command line, an http(s) address, or an entry in the format of editors. */
  readonly mcp: string | MCPClientConfig
}

/** Fields that only a program can set. */
type CodeOnly =
  | "fetch"
  | "authProvider"
  | "transport"
  | "filter"
  | "pins"
  | "elicitation"
  | "sampling"
  | "logger"
  | "approve"

const ENTRY_RULES = { ...MCP_FIELDS, envFile: "text", enabled: "boolean" } as const
type EntryField = Exclude<keyof MCPClientConfig, CodeOnly> | "envFile" | "enabled"

/** Texts that are not secrets of their own, in which references and lines are free. */
const TEXTS = { secret: false, refuse: undefined, isLoose: true, refers: "entry" } as const

const OWN_FIELDS = describe<typeof ENTRY_RULES, EntryField>(ENTRY_RULES, {
  // In commands, `${…}` may be meant for another program.
  command: { about: "A program to start; in a list, with its first arguments.", isLoose: true },
  args: { about: "Its arguments.", isLoose: true },
  env: { about: "Environment variables of its process.", ...TEXTS },
  envFile: "A file with environment variables of its process.",
  cwd: "Its working folder.",
  inheritEnv: "Variables of the hub that its process inherits; true for all of them.",
  url: { about: "The address of a server.", secret: false, refers: "entry" },
  headers: { about: "Sent with each request to its address.", ...TEXTS },
  blockPrivate: "Refuses private addresses, including public names that resolve to one.",
  type: "The transport; default: stdio with command, http with url.",
  version: "The version of its operations; default: 1.0.0.",
  era: "The generation of the protocol; default: auto, which asks the server.",
  trust: "Trusts its hints about tools: read-only tools become queries.",
  tools: "Options of single tools, by the server's own names.",
  timeout: "Timeout of a request without progress in milliseconds; default: 60,000.",
  maxTotalTimeout: "Total timeout of a request in milliseconds; default: 600,000.",
  sessions: "Whether its callers share a session; default: each identity has its own.",
  connectTimeout:
    "Timeout of connecting in milliseconds; default: 30,000, or 120,000 with a command that may install it.",
  maxConcurrency: "Concurrent requests; default: 64. Others wait.",
  maxMessageBytes: "The size of a message; default: 64 MiB.",
  maxResultBytes: "The size of a result; default: maxMessageBytes.",
  maxTools: "The number of tools, of resources and of prompts; default: 10,000.",
  maxPages: "The number of pages of a list; default: 100.",
  pin: "What happens when the definition of a tool changes; default: warn.",
  resources: "Serves its resources; default: true.",
  prompts: "Serves its prompts; default: true.",
  roots: "Folders in which the server may work.",
  forwardInput: "Lets the server ask callers; default: true.",
  accessControl: "Who may call its operations; default: everyone.",
  visibility: "Internal operations can be called by other operations only and are never served.",
  normalize: "How to treat members that a schema does not name.",
  output: "How to treat results that do not match their schema.",
  disabled: "Leaves the server out.",
  enabled: "Leaves the server out if it is false.",
  clientInfo: "How the hub identifies itself to the server.",
})
const ENTRY: Readonly<Record<string, Shape>> = { ...membersOf(ENTRY_RULES), ...OWN_FIELDS }

const SILENT = { error: () => undefined, warn: () => undefined }
const WAYS = ["command", "url", "transport"]
const ENTRY_SHAPE = fields("An MCP server: a command to start, or an address.", ENTRY, {
  open: true,
})

/** The entry of one server. */
export const mcpEntry: Shape = {
  schema: {
    ...ENTRY_SHAPE.schema,
    anyOf: ["command", "url", "serverUrl", "httpUrl"].map((name) => ({ required: [name] })),
  },
  check(value, keys, report) {
    if (!isRecord(value)) {
      report.error(keys, `must be an object with "command" or "url", got ${kindOf(value)}.`)
      return
    }
    const written = new Map<string, string>()
    const repeated = (key: string, message: string): void => report.error([...keys, key], message)
    const entry = toPlainEntry(value, repeated, written)
    // Editors have fields of their own: only names that look like a misspelling of ours are mistakes.
    const known = [...Object.keys(ENTRY), ...Object.keys(ALIASES)]
    checkNames(value, keys, report, known, { open: true })
    const ways = WAYS.filter((name) => written.has(name))
    // A misspelling has been reported already.
    const isMisspelt = checkNames(value, [], SILENT, WAYS.slice(0, 2), { open: true })
    if (ways.length > 1 || (ways.length === 0 && !isMisspelt)) {
      const got = ways.length === 0 ? "neither" : "both"
      report.error(keys, `needs either "command" (a program) or "url" (an address); it has ${got}.`)
    }
    for (const [name, key] of written) {
      const item = entry[name] ?? value[key]
      // In files of GitHub Copilot it is a list of names: that server cannot be used, but the others can.
      if (!Object.hasOwn(ENTRY, name) || (name === "tools" && Array.isArray(item))) continue
      if (name === "command" && Array.isArray(item) && item.length === 0) {
        report.error([...keys, key], "must name a program.")
      }
      ENTRY[name]?.check(item, [...keys, key], report)
    }
  },
}

function refuseServer(value: string): string | undefined {
  if (isAddress(value)) return address(["https", "http"])(value)
  const words = splitCommandLine(value)
  if (words === undefined) return "has a quotation mark that is not closed."
  return words.length === 0 ? "must name a program or an address." : undefined
}

export const mcp: SourceDescription<MCPSource> = {
  about: "The tools of an MCP server.",
  example: "server",
  fields: {
    mcp: {
      isRequired: true,
      schema: {
        description: "A command line, an http(s) address, or an entry in the format of editors.",
        anyOf: [{ type: "string", minLength: 1 }, mcpEntry.schema],
      },
      check(value, keys, report) {
        if (typeof value !== "string") return mcpEntry.check(value, keys, report)
        // In a command, `${…}` may be meant for the program that reads it.
        text("", { refuse: refuseServer, refers: isAddress(value) }).check(value, keys, report)
      },
    },
    headers: field(CALL_HEADERS, "Sent with each request to an HTTP server.", { isHeaders: true }),
    env: recordOf(
      "Environment variables of the server's process.",
      text("A value, or a reference: ${env:NAME}.", { refers: true }),
    ),
    blockPrivate: OWN_FIELDS.blockPrivate,
    connectTimeout: OWN_FIELDS.connectTimeout,
    sessions: OWN_FIELDS.sessions,
    resources: OWN_FIELDS.resources,
    prompts: OWN_FIELDS.prompts,
  },
  hints: {
    command: `Put it into "mcp": { "command": … }.`,
    args: `Put it into "mcp": { "command": …, "args": … }.`,
  },
  read: (value) => (isRecord(value) ? toPlainEntry(value) : value),
  isDisabled: (source) => typeof source.mcp === "object" && source.mcp.disabled === true,
  nameOf(source) {
    const { command, url } = entryOf(source.mcp)
    return url === undefined ? nameOfCommand(command) : nameOfAddress(url)
  },
  /** The program and its first argument; later arguments may be secrets. */
  originOf({ mcp: server }) {
    const { command, url } = entryOf(server)
    if (url !== undefined) return placeOf(url)
    if (command.length === 0) return "a transport of the program"
    // Of an argument with blanks only the first word is shown.
    const [program = "", ...args] =
      typeof server === "string" ? server.trim().split(/\s+/) : command
    const first = args.findIndex((arg) => !arg.startsWith("-"))
    const shown = first === -1 ? [] : args.slice(0, first + 1)
    const rest = args.length > shown.length ? ["…"] : []
    return redactText([program, ...shown, ...rest].join(" "))
  },
  hasCommand: true,
  namespaces: "source",
}

/** The words of the command, and the address, of a server. */
function entryOf(server: MCPSource["mcp"]): {
  command: readonly string[]
  url?: string | undefined
} {
  if (typeof server === "string") {
    if (isAddress(server)) return { command: [], url: server }
    return { command: splitCommandLine(server) ?? [] }
  }
  const { command = [], args = [], url } = server
  return { command: [command, args].flat(2).map(textOf), url: url && textOf(url) }
}

/** Programs that run other programs. */
const RUNNERS: ReadonlySet<string> = new Set([
  ..."npx npm pnpm pnpx yarn bunx bun deno node tsx uvx uv pipx python python3 docker podman".split(
    " ",
  ),
  ..."exec dlx run x tool start env cmd".split(" "),
])

/** Names of files and folders that are the same in most packages. */
const GENERIC: ReadonlySet<string> = new Set(
  "index cli main app mcp server start run bin dist build lib src out esm cjs".split(" "),
)

/** The package that a program belongs to, as its path shows it: below `node_modules`, or a folder above `dist`. */
function packageOfPath(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => !/^(?:[A-Za-z]:|\.{0,2}|~)$/.test(part))
  const at = parts.lastIndexOf("node_modules")
  const [scope = "", name = ""] = at === -1 ? [] : parts.slice(at + 1)
  if (scope !== "" && scope !== ".bin") return scope.startsWith("@") ? name : scope
  const names = parts.map((part) => part.replace(/\.\w{2,4}$/, ""))
  return names.findLast((one) => !GENERIC.has(one.toLowerCase())) ?? "server"
}

function nameOfCommand(words: readonly string[]): string {
  const positional = words.filter((word) => !word.startsWith("-") && !word.includes("="))
  const what = positional.find(
    (word) => !RUNNERS.has(word.replace(/^.*[\\/]/, "").replace(/\.exe$/i, "")),
  )
  if (what === undefined) return "server"
  // A package name: remove the scope, the version, and "mcp" or "server" at either end.
  const isPath = /^[./\\~]|^[A-Za-z]:|\.(?:[cm]?[jt]sx?|py|exe|sh|rb|jar)$/.test(what)
  const bare = isPath
    ? packageOfPath(what)
    : what.replace(/^@([^/]+)\//, "").replace(/(?<=.)@.*$/, "")
  const short = bare.replace(/^(?:mcp-server|server|mcp)-|-(?:mcp-server|server|mcp)$/g, "")
  const last = short.split("/").at(-1) ?? short
  return toNamespace(last === "" ? bare : last)
}
