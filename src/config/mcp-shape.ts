// An MCP server as editors keep it: other names for the same, and names that are the editor's own.

import { isPlainRecord, setOwn } from "../schema/json.ts"
import { MCP_FIELDS } from "../sources/mcp/config-fields.ts"
import {
  checkNames,
  type Findings,
  isGiven,
  kindOf,
  type Keys,
  type Shape,
  unknownKind,
} from "./shape.ts"
import { parseReferences } from "./references.ts"

/** What others call the same. */
const ALIASES: Readonly<Record<string, string>> = {
  environment: "env",
  serverUrl: "url",
  httpUrl: "url",
  transportType: "type",
}

/** Fields that are looked at here; the rest is checked when the server is connected to. */
const CHECKED: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  command: (value) =>
    isText(value) || (isList(value) && value.length > 0) ? undefined : "must name a program.",
  args: (value) => (isList(value) ? undefined : `must be a list of texts, such as ["a"].`),
  env: (value) => (isTexts(value) ? undefined : "must be an object with texts."),
  headers: (value) =>
    isTexts(value) || typeof value === "function" ? undefined : "must be an object with texts.",
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
  check(value, keys, found) {
    if (!isPlainRecord(value)) {
      found.fault(keys, `must be an object with "command" or "url", got ${kindOf(value)}.`)
      return
    }
    // Editors keep much beside: only what looks like a name of ours misspelt is a mistake.
    checkNames(value, keys, found, KNOWN, { open: true })
    checkWay(value, keys, found)
    for (const [name, refuse] of Object.entries(CHECKED)) {
      const given = ownName(value, name)
      if (given === undefined) continue
      const refusal = refuse(value[given])
      if (refusal !== undefined) found.fault([...keys, given], refusal)
    }
    checkTexts(value, keys, found)
  },
}

/** An entry with names of ours; numbers and flags among texts become texts. */
export function plainEntry(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(entry)) {
    if (value === undefined || value === null || key === "enabled") continue
    const isType = key === "transport" && typeof value === "string"
    const name = isType ? "type" : Object.hasOwn(ALIASES, key) ? (ALIASES[key] ?? key) : key
    setOwn(
      out,
      name,
      name === "args" || name === "env" || name === "headers" ? asTexts(value) : value,
    )
  }
  if (entry["enabled"] === false) out["disabled"] = true
  return out
}

function checkWay(value: Readonly<Record<string, unknown>>, keys: Keys, found: Findings): void {
  const isOwn = isGiven(value, "transport") && typeof value["transport"] !== "string"
  const ways = ["command", "url"].filter((name) => ownName(value, name) !== undefined)
  if (isOwn) ways.push("transport")
  if (ways.length === 1) return
  // A misspelt one was told of already.
  if (ways.length === 0 && hasNear(value)) return
  const got = ways.length === 0 ? "neither" : "both"
  found.fault(keys, `needs either "command" (a program) or "url" (an address); it has ${got}.`)
}

function hasNear(value: Readonly<Record<string, unknown>>): boolean {
  let isNear = false
  checkNames(
    value,
    [],
    { fault: () => (isNear = true), warn: () => undefined },
    ["command", "url"],
    { open: true },
  )
  return isNear
}

/** Under which of its names something is given. */
function ownName(value: Readonly<Record<string, unknown>>, name: string): string | undefined {
  if (isGiven(value, name)) return name
  return Object.keys(ALIASES).find((alias) => ALIASES[alias] === name && isGiven(value, alias))
}

/** References in what is filled in here; in commands, `${…}` may be meant for somebody else. */
function checkTexts(value: Readonly<Record<string, unknown>>, keys: Keys, found: Findings): void {
  for (const name of ["env", "headers"]) {
    const given = ownName(value, name)
    const record = given === undefined ? undefined : value[given]
    if (given === undefined || !isPlainRecord(record)) continue
    for (const [key, item] of Object.entries(record)) {
      if (typeof item !== "string") continue
      const odd = parseReferences(item).find((part) => part.kind === "unknown")
      // What editors ask their user for: that server cannot be used, yet the others can.
      if (odd?.kind === "unknown" && odd.name !== "input") {
        found.fault([...keys, given, key], unknownKind(odd.name))
      }
    }
  }
}

function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText)
  if (!isPlainRecord(value)) return value
  const out = {}
  for (const [key, item] of Object.entries(value)) setOwn(out, key, asText(item))
  return out
}

function asText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}

function isWord(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isWord)
}

function isTexts(value: unknown): boolean {
  return isPlainRecord(value) && Object.values(value).every(isWord)
}
