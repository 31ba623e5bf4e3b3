// MCP server entries in the format of editors: alternative field names, and fields that only editors use.

import { isRecord, isText } from "../internal/guards.ts"
import { ALIASES, MCP_FIELDS } from "../sources/mcp/config-fields.ts"
import {
  checkNames,
  type IssueReporter,
  isGiven,
  kindOf,
  type Keys,
  type Shape,
  unknownKindMessage,
} from "./field-checks.ts"
import { parseReferences } from "./references.ts"

/** Fields that are checked here; the others are checked when the server is connected. */
const CHECKED: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  command: (value) =>
    isText(value) || (isList(value) && value.length > 0) ? undefined : "must name a program.",
  args: (value) => (isList(value) ? undefined : `must be a list of strings, such as ["a"].`),
  env: (value) => (isTexts(value) ? undefined : "must be an object with strings."),
  headers: (value) =>
    isTexts(value) || typeof value === "function" ? undefined : "must be an object with strings.",
  url: (value) => (isText(value) || value instanceof URL ? undefined : "must be an address."),
  cwd: (value) => (isText(value) ? undefined : "must be a folder."),
  envFile: (value) => (isText(value) ? undefined : "must be a file."),
  disabled: (value) => (typeof value === "boolean" ? undefined : "must be true or false."),
  enabled: (value) => (typeof value === "boolean" ? undefined : "must be true or false."),
}

const KNOWN: readonly string[] = [
  ...Object.keys(MCP_FIELDS),
  ...Object.keys(ALIASES),
  "enabled",
  "envFile",
]

const texts = { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } }

/** The entry of one server. */
export const mcpEntry: Shape = {
  schema: {
    type: "object",
    description: "An MCP server: a command to start, or an address.",
    properties: {
      command: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
      args: { type: "array", items: { type: ["string", "number", "boolean"] } },
      env: texts,
      cwd: { type: "string" },
      envFile: { type: "string" },
      url: { type: "string" },
      headers: texts,
      type: { enum: ["stdio", "http", "sse", "local", "remote", "streamable-http"] },
      disabled: { type: "boolean" },
    },
    anyOf: [
      { required: ["command"] },
      { required: ["url"] },
      { required: ["serverUrl"] },
      { required: ["httpUrl"] },
    ],
  },
  check(value, keys, report) {
    if (!isRecord(value)) {
      report.error(keys, `must be an object with "command" or "url", got ${kindOf(value)}.`)
      return
    }
    // Editors have fields of their own: only names that look like a misspelling of ours are mistakes.
    checkNames(value, keys, report, KNOWN, { open: true })
    checkTransport(value, keys, report)
    for (const [name, refuse] of Object.entries(CHECKED)) {
      const field = ownName(value, name)
      if (field === undefined) continue
      const refusal = refuse(value[field])
      if (refusal !== undefined) report.error([...keys, field], refusal)
    }
    checkTexts(value, keys, report)
  },
}

function checkTransport(
  value: Readonly<Record<string, unknown>>,
  keys: Keys,
  report: IssueReporter,
): void {
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
function ownName(value: Readonly<Record<string, unknown>>, name: string): string | undefined {
  if (isGiven(value, name)) return name
  return Object.keys(ALIASES).find((alias) => ALIASES[alias] === name && isGiven(value, alias))
}

/** Checks references in `env` and `headers`; in commands, `${…}` may be meant for another program. */
function checkTexts(
  value: Readonly<Record<string, unknown>>,
  keys: Keys,
  report: IssueReporter,
): void {
  for (const name of ["env", "headers"]) {
    const field = ownName(value, name)
    const record = field === undefined ? undefined : value[field]
    if (field === undefined || !isRecord(record)) continue
    for (const [key, item] of Object.entries(record)) {
      if (typeof item !== "string") continue
      const odd = parseReferences(item).find((part) => part.kind === "unknown")
      // `${input:…}` is a prompt of editors: that server cannot be used, but the others can.
      if (odd?.kind === "unknown" && odd.name !== "input") {
        report.error([...keys, field, key], unknownKindMessage(odd.name))
      }
    }
  }
}

function isWord(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isWord)
}

function isTexts(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(isWord)
}
