// MCP servers: sources, and entries in the format of editors, which have alternative field names and fields of their own.

import type { CallHeaders } from "../../core/call-headers.ts"
import { isRecord, isText } from "../../internal/guards.ts"
import { redactText } from "../../internal/redact.ts"
import { parseReferences } from "../../internal/references.ts"
import type { JsonSchema } from "../../schema/json.ts"
import type { MCPClientConfig } from "../../sources/mcp/config.ts"
import { ALIASES, MCP_FIELDS, toPlainEntry } from "../../sources/mcp/config-fields.ts"
import { splitCommandLine } from "../command-line.ts"
import {
  checkNames,
  field,
  type IssueReporter,
  isGiven,
  kindOf,
  type Keys,
  recordOf,
  type Shape,
  text,
  unknownKindMessage,
} from "../field-checks.ts"
import { address, isAddress, nameOfAddress, placeOf, textOf } from "../names.ts"
import { toNamespace } from "../names.ts"
import { headers } from "../secret-shapes.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** The tools of an MCP server. */
export interface MCPSource extends CommonSource {
  /** A command line, an http(s) address, or an entry in the format of editors. */
  readonly mcp: string | MCPClientConfig
  /** Sent with each request to an HTTP server; values may contain references. Functions receive the caller. */
  readonly headers?: CallHeaders | undefined
  /** Environment variables of the server's process; values may contain references. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Refuse a server on a private address, including public names that resolve to one. */
  readonly blockPrivate?: boolean | undefined
  /**
   * Whether callers share a session with the server, or a process of it. Default: each identity has its own; callers
   * without an identity share one.
   */
  readonly sessions?: "shared" | "caller" | undefined
  /** Timeout of connecting in milliseconds; default: 30,000, or 120,000 with a command such as `npx`, which may install it. */
  readonly connectTimeout?: number | undefined
}

type Fields = Readonly<Record<string, unknown>>

const STRING: JsonSchema = { type: "string" }
const BOOLEAN: JsonSchema = { type: "boolean" }
const WORD: JsonSchema = { type: ["string", "number", "boolean"] }
const WORDS: JsonSchema = { type: "object", additionalProperties: WORD }
const OBJECT = "must be an object with strings."

/** Fields that are checked here; the others are checked when the server is connected. */
const CHECKED: Readonly<
  Record<string, [schema: JsonSchema, isValid: (value: unknown) => boolean, message: string]>
> = {
  command: [
    { anyOf: [STRING, { type: "array", items: STRING }] },
    (value) => isText(value) || (isList(value) && value.length > 0),
    "must name a program.",
  ],
  args: [{ type: "array", items: WORD }, isList, `must be a list of strings, such as ["a"].`],
  env: [WORDS, isTexts, OBJECT],
  headers: [WORDS, (value) => isTexts(value) || typeof value === "function", OBJECT],
  url: [STRING, (value) => isText(value) || value instanceof URL, "must be an address."],
  cwd: [STRING, isText, "must be a folder."],
  envFile: [STRING, isText, "must be a file."],
  disabled: [BOOLEAN, isBoolean, "must be true or false."],
  enabled: [BOOLEAN, isBoolean, "must be true or false."],
}

/** In commands, `${…}` may be meant for another program. */
const REFERRING: ReadonlySet<string> = new Set(["env", "headers"])

const KNOWN = [...Object.keys(MCP_FIELDS), ...Object.keys(ALIASES), "enabled", "envFile"]

/** The entry of one server. */
export const mcpEntry: Shape = {
  schema: {
    type: "object",
    description: "An MCP server: a command to start, or an address.",
    properties: {
      ...Object.fromEntries(Object.entries(CHECKED).map(([name, [schema]]) => [name, schema])),
      type: { enum: ["stdio", "http", "sse", "local", "remote", "streamable-http"] },
    },
    anyOf: ["command", "url", "serverUrl", "httpUrl"].map((name) => ({ required: [name] })),
  },
  check(value, keys, report) {
    if (!isRecord(value)) {
      report.error(keys, `must be an object with "command" or "url", got ${kindOf(value)}.`)
      return
    }
    // Editors have fields of their own: only names that look like a misspelling of ours are mistakes.
    checkNames(value, keys, report, KNOWN, { open: true })
    checkTransport(value, keys, report)
    for (const [name, [, isValid, message]] of Object.entries(CHECKED)) {
      const own = ownName(value, name)
      if (own === undefined) continue
      if (!isValid(value[own])) report.error([...keys, own], message)
      if (REFERRING.has(name)) checkReferences(value[own], [...keys, own], report)
    }
  },
}

function checkTransport(value: Fields, keys: Keys, report: IssueReporter): void {
  const isOwn = isGiven(value, "transport") && typeof value["transport"] !== "string"
  const ways = ["command", "url"].filter((name) => ownName(value, name) !== undefined)
  if (isOwn) ways.push("transport")
  if (ways.length === 1) return
  // A misspelling has been reported already.
  const silent = { error: () => undefined, warn: () => undefined }
  const isNear = checkNames(value, [], silent, ["command", "url"], { open: true })
  if (ways.length === 0 && isNear) return
  const got = ways.length === 0 ? "neither" : "both"
  report.error(keys, `needs either "command" (a program) or "url" (an address); it has ${got}.`)
}

/** The name or alias under which a field is present. */
function ownName(value: Fields, name: string): string | undefined {
  if (isGiven(value, name)) return name
  return Object.keys(ALIASES).find((alias) => ALIASES[alias] === name && isGiven(value, alias))
}

function checkReferences(record: unknown, keys: Keys, report: IssueReporter): void {
  if (!isRecord(record)) return
  for (const [key, item] of Object.entries(record)) {
    if (typeof item !== "string") continue
    const odd = parseReferences(item).find((part) => part.kind === "unknown")
    // `${input:…}` is a prompt of editors: that server cannot be used, but the others can.
    if (odd?.kind === "unknown" && odd.name !== "input") {
      report.error([...keys, key], unknownKindMessage(odd.name))
    }
  }
}

function isWord(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || isBoolean(value)
}

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean"
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isWord)
}

function isTexts(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(isWord)
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
    headers: headers("Sent with each request to an HTTP server."),
    env: recordOf(
      "Environment variables of the server's process.",
      text("A value, or a reference: ${env:NAME}.", { refers: true }),
    ),
    blockPrivate: field(
      "boolean",
      "Refuses private addresses, including public names that resolve to one.",
    ),
    connectTimeout: field(
      "duration",
      "Timeout of connecting in milliseconds; default: 30,000, or 120,000 with npx, uvx or docker.",
    ),
    sessions: field(
      { oneOf: ["shared", "caller"] },
      "Whether callers share a session with the server, or each identity has its own, the default.",
    ),
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
