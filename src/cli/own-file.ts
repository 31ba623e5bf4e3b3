import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, basename, join } from "node:path"
import { randomUUID } from "node:crypto"
import { reasonOf } from "../internal/message-text.ts"
import { UsageError } from "./model.ts"

/** Reads a file that a command wrote before; `undefined` when it does not exist. Refuses files with other content. */
export async function readOwnFile(
  path: string,
  shown: string,
  isOwn: (text: string) => boolean,
): Promise<string | undefined> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A file in place of a folder is reported when writing.
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    if (code === "EISDIR") throw new UsageError(`"${shown}" is a folder; -o takes a file.`)
    throw unusable("read", shown, error)
  }
  if (text.trim() !== "" && !isOwn(text)) {
    throw new UsageError(
      `"${shown}" was not written by this command, and is left as it is. Give another file with -o.`,
    )
  }
  // Git may have changed the line endings.
  return text.replaceAll("\r\n", "\n")
}

/** Writes a file atomically. */
export async function writeWhole(path: string, shown: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await replaceFile(path, text)
  } catch (error) {
    throw unusable("write", shown, error)
  }
}

function unusable(what: "read" | "write", shown: string, cause: unknown): Error {
  return new Error(`Could not ${what} "${shown}": ${reasonOf(cause)}`, { cause })
}

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
