// What a server's tools were when they were first used, and where that is kept.

import { CallError } from "../../core/errors.ts"
import { isPlainRecord } from "../../schema/json.ts"
import { reasonOf } from "../../internal/describe.ts"
import type { DefinitionChange } from "./definition-diff.ts"
import { fingerprintOf } from "./fingerprint.ts"
import type { PinnedDefinition } from "./fingerprint.ts"

/** A tool as it was accepted. */
export interface PinnedTool {
  readonly fingerprint: string
  readonly definition: PinnedDefinition
}

/** What is kept of one server. Plain JSON. */
export interface Pins {
  readonly version: 1
  /** One entry per tool, also of tools that are gone: they may come back as something else. */
  readonly tools: readonly PinnedTool[]
  /** What the server tells models about itself. */
  readonly instructions: string | null
  /** The address or the command that the tools were accepted from; absent in pins of before it was kept. */
  readonly endpoint?: string | undefined
}

/** Keeps pins between runs. */
export interface PinStore {
  /** Gives `undefined` for a server that was never used. */
  load(server: string): Promise<Pins | undefined> | Pins | undefined
  save(server: string, pins: Pins): Promise<void> | void
}

/** Asks whether something that is new, or other than it was, may be used. */
export interface PinQuestion {
  readonly server: string
  /** `undefined`: it is the server's instructions, or its endpoint. */
  readonly tool: string | undefined
  /** The server is reached by another address or command: `before` and `after` say which. */
  readonly isEndpoint?: true | undefined
  readonly change: "added" | "changed"
  readonly before?: PinnedDefinition | string | undefined
  readonly after: PinnedDefinition | string
  readonly diff: readonly DefinitionChange[]
}

/**
 * What happens when a tool is no longer what it was: nothing, a warning, refusal, or what a
 * function says. Anything but `true` refuses.
 */
export type PinPolicy =
  | "off"
  | "warn"
  | "block"
  | ((question: PinQuestion) => boolean | Promise<boolean>)

/** Keeps pins for as long as the process lives. */
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
 * The pins of a server; `undefined` for one that was never used.
 *
 * Throws `CONFLICT` when the store fails or gives something else than was saved: starting anew would
 * accept whatever the server is now.
 */
export async function loadPins(store: PinStore, server: string): Promise<Pins | undefined> {
  let loaded: unknown
  try {
    loaded = await store.load(server)
  } catch (cause) {
    throw unreadable(server, `the store failed: ${reasonOf(cause)}`, cause)
  }
  if (loaded === undefined || loaded === null) return undefined
  const fault = faultOf(loaded)
  if (fault !== undefined) throw unreadable(server, fault)
  return loaded as Pins
}

/** Saves the pins of a server; throws `CONFLICT` when the store fails. */
export async function savePins(store: PinStore, server: string, pins: Pins): Promise<void> {
  try {
    await store.save(server, pins)
  } catch (cause) {
    throw new CallError(
      "CONFLICT",
      `MCP server "${server}": its tools could not be pinned, because the store failed: ${reasonOf(cause)} Mend the store, or set pin: "off".`,
      { cause, mayHaveExecuted: false, details: { reason: "PINS_NOT_SAVED", server } },
    )
  }
}

function faultOf(loaded: unknown): string | undefined {
  if (!isPlainRecord(loaded)) return "they are no object"
  const { version, tools, instructions, endpoint } = loaded
  if (version !== 1) return "their version is not 1"
  if (instructions !== null && typeof instructions !== "string") {
    return `"instructions" is neither a text nor null`
  }
  if (endpoint !== undefined && typeof endpoint !== "string") return `"endpoint" is no text`
  if (!Array.isArray(tools)) return `"tools" is no list`
  const names = new Set<string>()
  for (const [index, entry] of tools.entries()) {
    const fault = entryFault(entry, names)
    if (fault !== undefined) return `entry ${index} of "tools" ${fault}`
  }
  return undefined
}

function entryFault(entry: unknown, names: Set<string>): string | undefined {
  if (!isPlainRecord(entry) || !isPlainRecord(entry["definition"])) return "has no definition"
  const { definition, fingerprint } = entry
  const { name } = definition
  if (typeof name !== "string") return "has no name"
  if (names.has(name)) return "is there twice"
  names.add(name)
  return fingerprint === fingerprintOf({ ...definition, name })
    ? undefined
    : "does not have the fingerprint that its definition has"
}

function unreadable(server: string, fault: string, cause?: unknown): CallError {
  return new CallError(
    "CONFLICT",
    `MCP server "${server}": the pins of its tools cannot be read: ${fault}. Nothing of this server is used until they can. Restore them, or delete them to accept the tools as they are now.`,
    { cause, mayHaveExecuted: false, details: { reason: "PINS_UNREADABLE", server } },
  )
}
