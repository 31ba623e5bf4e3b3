// Our own types for MCP: no type of an SDK is part of our signatures.

import type { MCPSkill } from "../core/skill.ts"
import type { MCPIcon } from "../core/envelope.ts"

/** An object as received or sent, not yet validated. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Two lifecycles: `initialize` up to 2025-11-25, single requests since 2026-07-28. */
export type MCPEra = "legacy" | "modern"

/** A server's hints about a tool. Do not rely on them for safety. */
export interface MCPToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A tool as its server defines it, every field as received. */
export interface MCPToolDefinition {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly annotations?: MCPToolAnnotations
  readonly icons?: readonly MCPIcon[]
  readonly execution?: { readonly taskSupport?: string }
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A resource, or a template of resources, as its server lists it. */
export interface MCPResourceDefinition {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly uri?: string
  readonly uriTemplate?: string
  readonly mimeType?: string
  readonly size?: number
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** The raw result of a tool call. */
export interface MCPToolResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: unknown
  readonly _meta?: unknown
}

/** `_meta.mcp` of an imported operation: its server, and the original definition. */
export interface MCPOrigin {
  /** The namespace: the key in the user's configuration. */
  readonly server: string
  readonly kind: "tool" | "resource" | "resourceTemplate" | "prompt"
  /** For a tool: its definition as received, including schemas. */
  readonly tool?: MCPToolDefinition
  /** For a resource, a template or a prompt: its definition as received. */
  readonly definition?: JsonObject
  /** For a resource that is the `SKILL.md` of a skill. */
  readonly skill?: MCPSkill
  /** SHA-256 of the parts of a tool that a model sees. */
  readonly fingerprint?: string
  /** Invisible characters in texts that a model reads. */
  readonly hiddenText?: readonly MCPHiddenText[]
  /** What could not be imported, such as an unsupported schema, and why. */
  readonly diagnostics?: readonly string[]
}

/** Invisible characters in a text of a definition. */
export interface MCPHiddenText {
  /** JSON pointer into the definition. */
  readonly path: string
  /** Such as `U+200B`; each once. */
  readonly characters: readonly string[]
}

/** The protocol version of the modern era. */
export const MODERN_VERSION = "2026-07-28"

/** Protocol versions of the legacy era, the newest first. */
export const LEGACY_VERSIONS: readonly string[] =
  "2025-11-25 2025-06-18 2025-03-26 2024-11-05 2024-10-07".split(" ")

/** Log levels of MCP, least important first. */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** Keys in `_meta` of modern messages. The envelope of a request has the first two, and may have the next two. */
export const ENVELOPE = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  /** The level from which its sender wants log messages. */
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const

/** The extension for skills, among the capabilities of a server. */
export const SKILLS = "io.modelcontextprotocol/skills"

/** In `_meta` of a call: its sender is a program that takes a whole result, however long. */
export const WHOLE_RESULT = "dev.alkdev.operations/whole-result"

/** In `_meta` of a call: nothing is called. In `_meta` of its result: the report of the dry run. */
export const DRY_RUN = "dev.alkdev.operations/dry-run"

/** Whether a value is an MCP log level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.includes(value as LogLevel)
}
