import { readFile } from "node:fs/promises"
import { loadConfig } from "../../hub/config-file/load.ts"
import { addSource, formatOf } from "../edit/add-source.ts"
import type { CommandIO } from "../model.ts"
import { writeWhole } from "../own-file.ts"
import type { NewSource } from "./new-sources.ts"

/**
 * Adds a source to a configuration file; `false` when you have to do it by hand.
 *
 * A script is run afterwards: if it does not have the new source and all previous ones, the file is
 * restored.
 */
export async function writeSource(
  file: string,
  { name, source }: NewSource,
  sourceNames: readonly string[],
  io: CommandIO,
): Promise<boolean> {
  const format = formatOf(file)
  const before = await readFile(file, "utf8")
  const after = addSource(before, format, name, source)
  if (after === undefined) return false
  await writeWhole(file, file, after)
  if (format !== "js") return true
  try {
    const { sources } = await loadConfig(file, { env: io.env, fresh: true })
    const names = new Set(sources.map((one) => one.name))
    if ([name, ...sourceNames].every((one) => names.has(one))) return true
  } catch {
    // The edit broke the file, so it is undone below.
  }
  await writeWhole(file, file, before)
  return false
}
