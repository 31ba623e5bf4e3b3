import { join, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import type {
  MCPSource,
  OpenAPISource,
  RemoteSource,
  ScanSource,
  ResolvedSource,
} from "../config/model.ts"
import { isAddress } from "../config/names.ts"
import { redactText } from "../internal/redact.ts"

/**
 * The origin of a source as its configuration has it, without secrets; files in its folder by their relative paths, programs
 * elsewhere by their names.
 */
export function originOf(source: ResolvedSource, baseDir: string): string {
  const folder = join(baseDir, sep)
  const written = writtenOrigin(source)
  const text = folder === sep ? written : written.replaceAll(folder, "")
  return source.kind === "mcp" ? text.replaceAll(FOLDERS, "$1") : text
}

/** What comes before the name of a file, in absolute paths. */
const FOLDERS = /(^|\s)(?:[a-z]:)?[/\\]\S*[/\\]/gi

function writtenOrigin({ kind, config }: ResolvedSource): string {
  switch (kind) {
    case "scan":
      return (config as ScanSource).scan
    case "openapi":
      return placeOf((config as OpenAPISource).openapi)
    case "remote":
      return (config as RemoteSource).remote.split(",").map(placeOf).join(",")
    case "mcp":
      return serverOf((config as MCPSource).mcp)
  }
}

/** The file or folder of a source, as far as its configuration names it. */
export function filesOf({ kind, config }: ResolvedSource, baseDir: string): readonly string[] {
  const text =
    kind === "scan"
      ? (config as ScanSource).scan
      : kind === "openapi"
        ? (config as OpenAPISource).openapi
        : undefined
  if (text === undefined || /^https?:/i.test(text) || text.includes("${")) return []
  return [pathOf(text, baseDir)]
}

/** Resolves a path relative to the configuration. */
export function pathOf(text: string, baseDir: string): string {
  return text.startsWith("file:") ? fileURLToPath(text) : resolve(baseDir, text)
}

/** A URL without user, password and query; or a path. */
function placeOf(text: string): string {
  if (!URL.canParse(text) || !isAddress(text)) return redactText(text)
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`
}

/** The program and its first argument; later arguments may be secrets. */
function serverOf(mcp: MCPSource["mcp"]): string {
  if (typeof mcp !== "string") {
    const { command, args = [], url } = mcp
    if (command !== undefined) return commandOf([command, args].flat(2).map(String))
    return url === undefined ? "a transport of the program" : placeOf(String(url))
  }
  return /^https?:/i.test(mcp) ? placeOf(mcp) : commandOf(mcp.trim().split(/\s+/))
}

function commandOf([program = "", ...args]: readonly string[]): string {
  const first = args.findIndex((arg) => !arg.startsWith("-"))
  const shown = first === -1 ? [] : args.slice(0, first + 1)
  const rest = args.length > shown.length ? ["…"] : []
  return redactText([program, ...shown, ...rest].join(" "))
}
