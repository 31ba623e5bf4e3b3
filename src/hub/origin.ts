import { join, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import type { MCPSource, ResolvedSource } from "../config/model.ts"
import { isAddress, withPath } from "../config/names.ts"
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

function writtenOrigin({ config }: ResolvedSource): string {
  if ("scan" in config) return config.scan
  if ("openapi" in config) return placeOf(config.openapi)
  if ("remote" in config) return config.remote.split(",").map(placeOf).join(",")
  return serverOf(config.mcp)
}

/** The file or folder of a source, as far as its configuration names it. */
export function filesOf({ config }: ResolvedSource, baseDir: string): readonly string[] {
  const files: string[] = []
  withPath(config, (path) => {
    if (!path.includes("${")) files.push(pathOf(path, baseDir))
    return path
  })
  return files
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
