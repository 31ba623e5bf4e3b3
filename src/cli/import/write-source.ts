import { readFile, writeFile } from "node:fs/promises"
import { loadConfig } from "../../hub/config-file/load.ts"
import { addSource, formatOf } from "../edit/add-source.ts"
import type { CommandIO } from "../model.ts"
import type { NewSource } from "./new-sources.ts"

/**
 * Adds a source to the file of a configuration; false when it has to be done by hand.
 *
 * A script is run afterwards: where that does not give the source, and all that were there, the file is
 * as it was.
 */
export async function writeSource(
  file: string,
  { name, source }: NewSource,
  known: readonly string[],
  io: CommandIO,
): Promise<boolean> {
  const format = formatOf(file)
  const before = await readFile(file, "utf8")
  const after = addSource(before, format, name, source)
  if (after === undefined) return false
  await writeFile(file, after)
  if (format !== "js") return true
  try {
    const { sources } = await loadConfig(file, { env: io.env, fresh: true })
    const names = new Set(sources.map((one) => one.name))
    if ([name, ...known].every((one) => names.has(one))) return true
  } catch {
    // What is wrong with it was made here.
  }
  await writeFile(file, before)
  return false
}
