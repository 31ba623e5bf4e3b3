import { join, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { SOURCES } from "../config/kinds/index.ts"
import type { ResolvedSource } from "../config/model.ts"
import { withPath } from "../config/source-shapes.ts"

/**
 * The origin of a source as its configuration has it, without secrets; files in its folder by their relative paths, programs
 * elsewhere by their names.
 */
export function originOf({ kind, config }: ResolvedSource, baseDir: string): string {
  const folder = join(baseDir, sep)
  const written = SOURCES[kind].originOf(config)
  const text = folder === sep ? written : written.replaceAll(folder, "")
  return SOURCES[kind].hasCommand === true ? text.replaceAll(FOLDERS, "$1") : text
}

/** What comes before the name of a file, in absolute paths. */
const FOLDERS = /(^|\s)(?:[a-z]:)?[/\\]\S*[/\\]/gi

/** The file or folder of a source, as far as its configuration names it. */
export function filesOf(source: ResolvedSource, baseDir: string): readonly string[] {
  const files: string[] = []
  withPath(source, (path) => {
    if (!path.includes("${")) files.push(pathOf(path, baseDir))
    return path
  })
  return files
}

/** Resolves a path relative to the configuration. */
export function pathOf(text: string, baseDir: string): string {
  return text.startsWith("file:") ? fileURLToPath(text) : resolve(baseDir, text)
}
