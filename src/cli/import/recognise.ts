import { readFile, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { SourceKind } from "../../config/kinds/index.ts"
import { isAddress } from "../../config/names.ts"
import { serversOf, type FoundSource } from "../init/discover.ts"
import { UsageError, type SourceArgument } from "../model.ts"
import { SOURCE_NAMES } from "../shared-options.ts"
import { COMMAND_SOURCES } from "../sources/index.ts"

/** The meaning of an argument: an equivalent option, or the servers of an editor's file. */
export type Recognised =
  | { readonly option: SourceKind; readonly text: string }
  | { readonly servers: readonly FoundSource[] }

/** Detects which kind of source an argument names; throws a `UsageError` when it is unclear. */
export async function recognise(text: string, cwd: string): Promise<Recognised> {
  const path = resolve(cwd, text)
  const argument = await argumentOf(text, path)
  const option = SOURCE_NAMES.find((kind) => COMMAND_SOURCES[kind].recognises(argument))
  if (argument.at === "command" && looksLikePath(text)) {
    throw new UsageError(`There is no file or folder "${text}" in ${cwd}.`)
  }
  if (option !== undefined) return { option, text }
  if (argument.at === "address") throw unclear(text)
  const servers = await serversOf("", path)
  if (servers.length > 0) return { servers }
  throw new UsageError(
    `"${text}" is neither an OpenAPI document nor a file of an editor with MCP servers. If it is a document, say so: --openapi ${text}`,
  )
}

async function argumentOf(text: string, path: string): Promise<SourceArgument> {
  if (isAddress(text)) return { text, at: "address" }
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isDirectory() === true) return { text, at: "folder" }
  if (stats?.isFile() !== true) return { text, at: "command" }
  if (/\.[cm]?[jt]sx?$/i.test(path)) {
    throw new UsageError(
      `"${text}" is a module. Give its folder (${dirname(text)}), or the command that starts it as an MCP server ("node ${text}").`,
    )
  }
  return { text, at: "file", content: await readFile(path, "utf8") }
}

function unclear(text: string): UsageError {
  const ways = SOURCE_NAMES.flatMap((kind) => {
    const { atAddress } = COMMAND_SOURCES[kind]
    return atAddress === undefined ? [] : [`--${kind} ${text} for ${atAddress}`]
  })
  return new UsageError(`What is at ${text}? Say so: ${ways.join(", ")}.`)
}

/** Whether a text is one word with a slash or a known extension, unlike a command. */
function looksLikePath(text: string): boolean {
  return !/\s/.test(text) && /^[.~/]|[\\/]|\.(?:json|ya?ml|[cm]?[jt]s)$/i.test(text)
}
