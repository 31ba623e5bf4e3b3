// What MCP calls things, in our own words: no type of an SDK is part of a signature of ours.

import type { MCPIcon } from "../core/envelope.ts"

/** Two lifecycles: `initialize` up to 2025-11-25, single requests since 2026-07-28. */
export type MCPEra = "legacy" | "modern"

/** What a server says a tool does. Hints: nothing is safe because of them. */
export interface MCPToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A tool as its server defines it, every field as it came. */
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

/** What a tool call came back with, before anything was made of it. */
export interface MCPToolResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: unknown
  readonly _meta?: unknown
}

/** `_meta.mcp` of an imported operation: where it is from, and the definition for handing on. */
export interface MCPOrigin {
  /** The namespace: the key in the user's configuration. */
  readonly server: string
  readonly kind: "tool" | "resource" | "resourceTemplate" | "prompt"
  /** Of a tool: its definition, schemas included, as it came. */
  readonly tool?: MCPToolDefinition
  /** SHA-256 of what a model sees of a tool. */
  readonly fingerprint?: string
  /** Characters that nobody sees, in what a model reads: where, and which. */
  readonly hiddenText?: readonly MCPHiddenText[]
  /** What could not be taken over: a schema that is not checked, and why. */
  readonly diagnostics?: readonly string[]
}

/** Invisible characters in a text of a definition. */
export interface MCPHiddenText {
  /** JSON pointer into the definition. */
  readonly path: string
  /** Such as `U+200B`; each once. */
  readonly characters: readonly string[]
}

/** The revision that a modern peer speaks. */
export const MODERN_VERSION = "2026-07-28"
