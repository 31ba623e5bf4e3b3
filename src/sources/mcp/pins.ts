// Pins: the accepted definitions of a server's tools, and where they are stored.

import { CallError } from "../../core/errors.ts"
import { isRecord } from "../../internal/guards.ts"
import { withoutUndefined } from "../../internal/own.ts"
import { reasonOf } from "../../internal/message-text.ts"
import type { DefinitionChange } from "./definition-diff.ts"
import { canonicalJson } from "../../mcp/canonical.ts"
import type { MCPToolDefinition } from "../../mcp/model.ts"
import { sha256Hex } from "../../internal/sha256.ts"

/** The parts of a tool that a model sees, and that a change could use to mislead it. */
export interface PinnedDefinition extends Pick<
  MCPToolDefinition,
  "name" | "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
> {}

/** The accepted definition of a tool. */
export interface PinnedTool {
  readonly fingerprint: string
  readonly definition: PinnedDefinition
}

/** The pins of one server, as plain JSON. */
export interface Pins {
  readonly version: 1
  /** One entry per tool, including removed ones, which may return with another definition. */
  readonly tools: readonly PinnedTool[]
  /** The server's instructions for models. */
  readonly instructions: string | null
  /** The address or the command of the server; absent in older pins. */
  readonly endpoint?: string | undefined
}

/** Stores pins between runs. */
export interface PinStore {
  /** Returns `undefined` for a server without pins. */
  load(server: string): Promise<Pins | undefined> | Pins | undefined
  save(server: string, pins: Pins): Promise<void> | void
}

/** A new or changed definition that needs approval. */
export interface PinQuestion {
  readonly server: string
  /** `undefined` for the server's instructions or its endpoint. */
  readonly tool: string | undefined
  /** The address or command of the server has changed, from `before` to `after`. */
  readonly isEndpoint?: true | undefined
  readonly change: "added" | "changed"
  readonly before?: PinnedDefinition | string | undefined
  readonly after: PinnedDefinition | string
  readonly diff: readonly DefinitionChange[]
}

/**
 * What happens when a tool's definition changes: nothing, a warning, or a refusal; or a function decides.
 * Anything but `true` refuses.
 */
export type PinPolicy =
  | "off"
  | "warn"
  | "block"
  | ((question: PinQuestion) => boolean | Promise<boolean>)

/** Extracts the pinned part of a definition. */
export function pinnedPart(tool: MCPToolDefinition): PinnedDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  const part = { name, title, description, inputSchema, outputSchema, annotations }
  return withoutUndefined(part) as PinnedDefinition
}

/**
 * SHA-256, in hexadecimal digits, of the parts of a tool that a model sees.
 *
 * Independent of the order of keys. Synchronous, so that a list of tools is compared in one turn.
 */
export function fingerprintOf(tool: MCPToolDefinition): string {
  return sha256Hex(canonicalJson(pinnedPart(tool)))
}

/** Stores pins in memory. */
export function memoryPins(): PinStore {
  const kept = new Map<string, Pins>()
  return {
    load: (server) => kept.get(server),
    save: (server, pins) => {
      kept.set(server, pins)
    },
  }
}

/**
 * Loads the pins of a server; `undefined` if there are none.
 *
 * Throws `CONFLICT` when the store fails or returns invalid data: starting without pins would accept the
 * server's current definitions.
 */
export async function loadPins(store: PinStore, server: string): Promise<Pins | undefined> {
  let loaded: unknown
  try {
    loaded = await store.load(server)
  } catch (cause) {
    throw unreadable(server, `the store failed: ${reasonOf(cause)}`, cause)
  }
  if (loaded === undefined || loaded === null) return undefined
  const issue = findIssue(loaded)
  if (issue !== undefined) throw unreadable(server, issue)
  return loaded as Pins
}

/** Saves the pins of a server; throws `CONFLICT` when the store fails. */
export async function savePins(store: PinStore, server: string, pins: Pins): Promise<void> {
  try {
    await store.save(server, pins)
  } catch (cause) {
    throw new CallError(
      "CONFLICT",
      `MCP server "${server}": its tools could not be pinned, because the store failed: ${reasonOf(cause)} Fix the store, or set pin: "off".`,
      { cause, mayHaveExecuted: false, details: { reason: "PINS_NOT_SAVED", server } },
    )
  }
}

function findIssue(loaded: unknown): string | undefined {
  if (!isRecord(loaded)) return "they are not an object"
  const { version, tools, instructions, endpoint } = loaded
  if (version !== 1) return "their version is not 1"
  if (instructions !== null && typeof instructions !== "string") {
    return `"instructions" is neither a string nor null`
  }
  if (endpoint !== undefined && typeof endpoint !== "string") return `"endpoint" is not a string`
  if (!Array.isArray(tools)) return `"tools" is not a list`
  const names = new Set<string>()
  for (const [index, entry] of tools.entries()) {
    const issue = entryIssue(entry, names)
    if (issue !== undefined) return `entry ${index} of "tools" ${issue}`
  }
  return undefined
}

function entryIssue(entry: unknown, names: Set<string>): string | undefined {
  if (!isRecord(entry) || !isRecord(entry["definition"])) return "has no definition"
  const { definition, fingerprint } = entry
  const { name } = definition
  if (typeof name !== "string") return "has no name"
  if (names.has(name)) return "occurs twice"
  names.add(name)
  return fingerprint === fingerprintOf({ ...definition, name })
    ? undefined
    : "has a fingerprint that does not match its definition"
}

function unreadable(server: string, issue: string, cause?: unknown): CallError {
  return new CallError(
    "CONFLICT",
    `MCP server "${server}": the pins of its tools cannot be read: ${issue}. The server is not used until they can be read. Restore them, or delete them to accept the tools as they are now.`,
    { cause, mayHaveExecuted: false, details: { reason: "PINS_UNREADABLE", server } },
  )
}
