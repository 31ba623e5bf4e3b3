import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { UsageError } from "../model.ts"

/** Header of files that this command wrote. */
const HEADER = /^(?:\uFEFF)?\/\* eslint-disable \*\/\r?\n\/\/ Written by `operations types`/

/** Reads a file of declarations; `undefined` when it does not exist. Refuses files that this command did not write. */
export async function readTypes(path: string, shown: string): Promise<string | undefined> {
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
  if (text.trim() !== "" && !HEADER.test(text)) {
    throw new UsageError(
      `"${shown}" was not written by this command, and is left as it is. Give another file with -o.`,
    )
  }
  // Git may have changed the line endings.
  return text.replaceAll("\r\n", "\n")
}

/** Writes a file atomically. */
export async function writeTypes(path: string, shown: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(draft, text)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw unusable("write", shown, error)
  }
}

function unusable(what: "read" | "write", shown: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`Could not ${what} "${shown}": ${reason}`, { cause })
}

/** Ids that one text declares and another does not. */
export function idsBeyond(text: string, other: string): string[] {
  const others = new Set(idsIn(other))
  return idsIn(text).filter((id) => !others.has(id))
}

function idsIn(text: string): string[] {
  const matches = text.matchAll(/^ {2}("(?:[^"\\\n]|\\.)*"): \{$/gm)
  return Array.from(matches, ([, id = '""']) => JSON.parse(id) as string)
}
