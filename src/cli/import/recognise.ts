import { readFile, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { isDocument, serversOf, type FoundSource } from "../init/discover.ts"
import { UsageError } from "../model.ts"

/** The meaning of an argument: an equivalent option, or the servers of an editor's file. */
export type Recognised =
  | { readonly option: "openapi" | "mcp" | "scan" | "remote"; readonly text: string }
  | { readonly servers: readonly FoundSource[] }

/** Detects which kind of source an argument names; throws a `UsageError` when it is unclear. */
export async function recognise(text: string, cwd: string): Promise<Recognised> {
  if (/^(?:wss?|nats|tls|rediss?):\/\//i.test(text)) return { option: "remote", text }
  if (/^https?:\/\//i.test(text)) return recogniseAddress(text)
  const path = resolve(cwd, text)
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isDirectory() === true) return { option: "scan", text }
  if (stats?.isFile() === true) return await recogniseFile(text, path)
  if (looksLikePath(text)) {
    throw new UsageError(`There is no file or folder "${text}" in ${cwd}.`)
  }
  return { option: "mcp", text }
}

function recogniseAddress(text: string): Recognised {
  const { pathname } = new URL(text)
  if (/\.(?:json|ya?ml)$|openapi|swagger|api-docs/i.test(pathname)) {
    return { option: "openapi", text }
  }
  if (/\/(?:mcp|sse)\/?$/i.test(pathname) || new URL(text).hostname.startsWith("mcp.")) {
    return { option: "mcp", text }
  }
  throw new UsageError(
    `What is at ${text}? Say so: --openapi ${text} for a document, --mcp ${text} for an MCP server, --remote ${text} for a hub.`,
  )
}

async function recogniseFile(text: string, path: string): Promise<Recognised> {
  if (/\.[cm]?[jt]sx?$/i.test(path)) {
    throw new UsageError(
      `"${text}" is a module. Give its folder (${dirname(text)}), or the command that starts it as an MCP server ("node ${text}").`,
    )
  }
  if (isDocument(await readFile(path, "utf8"))) return { option: "openapi", text }
  const servers = await serversOf("", path)
  if (servers.length > 0) return { servers }
  throw new UsageError(
    `"${text}" is neither an OpenAPI document nor a file of an editor with MCP servers. If it is a document, say so: --openapi ${text}`,
  )
}

/** Whether a text is one word with a slash or a known extension, unlike a command. */
function looksLikePath(text: string): boolean {
  return !/\s/.test(text) && /^[.~/]|[\\/]|\.(?:json|ya?ml|[cm]?[jt]s)$/i.test(text)
}
