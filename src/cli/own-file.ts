import { mkdir, readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { reasonOf } from "../internal/message-text.ts"
import { replaceFile } from "../node/replace-file.ts"
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
