import { realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { randomUUID } from "node:crypto"

/**
 * Writes a file under a new name, and then renames it: others see the old file or the new one, and a failure leaves
 * the old one as it was.
 *
 * A link stays a link, and an existing file keeps its mode. Devices and pipes are written to directly.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: { readonly mode?: number; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const before = await stat(target).catch(() => undefined)
  if (before !== undefined && !before.isFile()) return await writeFile(target, content, options)
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}`)
  try {
    await writeFile(draft, content, { mode: before?.mode, ...options, flag: "wx" })
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}
