import { readdir, readFile, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { editorConfig } from "../../hub/config-file/editor-config.ts"
import { suggestedNamespace } from "../../mcp/names.ts"
import type { Plain } from "../edit/add-source.ts"
import type { CommandIO } from "../model.ts"
import { escapeForTerminal } from "../output.ts"
import { readJsonc } from "../../internal/jsonc.ts"
import { isDocument } from "../sources/openapi.ts"
import { titleOfFile } from "../target/title.ts"
import { shareableEntry } from "./mcp-servers.ts"

/** A possible source, and the file it was found in. */
export interface FoundSource {
  readonly name: string
  readonly source: Plain
  /** The file, relative to the folder. */
  readonly file: string
  /** Variables that take the place of secrets in that file. */
  readonly variables?: readonly string[] | undefined
}

const EDITOR_FILES = [".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"]
const DOCUMENT_FOLDERS = [".", "api", "docs", "openapi", "spec", "specs"]
// Names of OpenAPI documents; the content is checked, too.
const DOCUMENT = /^(?:.*[._-])?(?:openapi|swagger)(?:[._-].*)?\.(?:ya?ml|json)$/i
const MAX_BYTES = 32 * 1024 * 1024

/** Finds OpenAPI documents and MCP servers in a folder. */
export async function discover(folder: string): Promise<FoundSource[]> {
  const sources: FoundSource[] = []
  for (const file of EDITOR_FILES) sources.push(...(await serversOf(folder, file)))
  for (const sub of DOCUMENT_FOLDERS) sources.push(...(await documentsIn(folder, sub)))
  // "local" is the folder of modules.
  const names = new Set<string>(["local"])
  // The first of a name wins: a second one is usually the same server for another editor.
  return sources.filter(({ name }) => !names.has(name) && names.add(name))
}

/** The MCP servers of an editor's file. */
export async function serversOf(folder: string, file: string): Promise<FoundSource[]> {
  const text = await readText(join(folder, file))
  if (text === undefined) return []
  const { servers } = editorConfig(parsed(text), join(folder, file)) ?? { servers: {} }
  return Object.entries(servers).flatMap(([server, entry]) => {
    const shared = shareableEntry(server, entry)
    if (shared === undefined) return []
    const { entry: mcp, variables } = shared
    return [{ name: suggestedNamespace(server), source: { mcp }, file, variables }]
  })
}

/** Lines that name the secrets which were not copied, and are not in the environment either. */
export function variableLines(
  {
    name,
    file = "",
    variables = [],
  }: Omit<FoundSource, "source" | "file"> & { file?: string | undefined },
  { env }: CommandIO,
): string[] {
  return variables
    .filter((variable) => env[variable] === undefined)
    .map(
      (variable) =>
        `Source "${name}" needs a secret: export ${variable} (its value is in ${escapeForTerminal(file)})`,
    )
}

async function documentsIn(folder: string, sub: string): Promise<FoundSource[]> {
  const files = await readdir(join(folder, sub)).catch(() => [])
  const sources: FoundSource[] = []
  for (const file of files.filter((one) => DOCUMENT.test(one)).toSorted()) {
    const path = sub === "." ? file : `${sub}/${file}`
    const text = await readText(join(folder, path))
    if (text === undefined || !isDocument(text)) continue
    const name = (await titleOfFile(path, folder)) ?? nameOf(file)
    sources.push({ name, source: { openapi: `./${path}` }, file: path })
  }
  return sources
}

/** `shop` for `shop.openapi.yaml`, `api` for `openapi.json`. */
function nameOf(file: string): string {
  const words = basename(file)
    .replace(/\.[^.]+$/, "")
    .split(/[._-]+/)
    .filter((word) => word !== "" && !/^(?:openapi|swagger)$/i.test(word))
  return words.length === 0 ? "api" : suggestedNamespace(words.join("-"))
}

function parsed(text: string): unknown {
  try {
    return readJsonc(text).value
  } catch {
    return undefined
  }
}

/** Reads a file; `undefined` when it does not exist, is too large or cannot be read. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path)
    return size > MAX_BYTES ? undefined : await readFile(path, "utf8")
  } catch {
    return undefined
  }
}
