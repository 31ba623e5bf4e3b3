import { isPlainObject } from "../internal/guards.ts"
import { setOwn } from "../internal/own.ts"
import { type FileLike, isFileLike } from "../schema/files.ts"
import { MAX_JSON_DEPTH } from "./plain-json.ts"
import { readWhole } from "./unread-file.ts"

/**
 * Replaces the files of an input by those of the platform; returns the input itself if there are no others.
 *
 * Streams are read into memory. Rejects with `PAYLOAD_TOO_LARGE` if one is too large for that.
 */
export async function toPlatformFiles(value: unknown, depth = 0): Promise<unknown> {
  if (typeof value !== "object" || value === null || depth > MAX_JSON_DEPTH) return value
  if (isFileLike(value)) return await toPlatformFile(value)
  if (!Array.isArray(value) && !isPlainObject(value)) return value
  let out: object | undefined
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== "object" || member === null) continue
    const now = await toPlatformFiles(member, depth + 1)
    if (now !== member) setOwn((out ??= Array.isArray(value) ? [...value] : { ...value }), key, now)
  }
  return out ?? value
}

async function toPlatformFile(file: FileLike): Promise<File> {
  if (file instanceof File) return file
  const cure = "does not fit into memory. Use FileStream() in its schema, which streams it"
  const part = file instanceof Blob ? file : await readWhole(file, cure)
  return new File([part], file.name ?? "", { type: file.type })
}
