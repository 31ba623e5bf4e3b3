import { fromBase64 } from "../internal/base64.ts"
import { isRecord } from "../internal/guards.ts"
import { pointerSegment } from "../internal/pointer.ts"
import { fileKindOf, mediaTypeOf, withBase64 } from "../schema/file-fields.ts"
import { FILE_MARK, isFileLike, type FileLike } from "../schema/files.ts"
import { setOwn } from "../schema/json.ts"
import { type SchemaView, viewOf } from "../schema/read/view.ts"
import { readWhole } from "./unread-file.ts"
import { invalid } from "./validation.ts"

/**
 * Converts base64 text in JSON to the files that it stands for, and bytes where a file is expected.
 *
 * Throws `VALIDATION_ERROR` for other text in the place of a file without our mark, such as that of an imported API:
 * its schema accepts any text. With our mark, and in a `result`, other text stays for validation to report.
 */
export function decodeFiles(schema: unknown, value: unknown, role: Role = "input"): unknown {
  const hasFiles = isRecord(schema) && withBase64(schema) !== schema
  if (!hasFiles) return value
  return change(value, viewOf(schema), "", (one, view, path) =>
    isFileLike(one) ? one : decodeFile(one, view, path, role),
  )
}

/**
 * Replaces the files of an input that have to be a `File` of the platform.
 *
 * Streams are read into memory. Rejects with `PAYLOAD_TOO_LARGE` if one is too large for that.
 */
export async function toPlatformFiles(schema: unknown, value: unknown): Promise<unknown> {
  const view = viewOf(schema)
  const files = new Map<unknown, File | undefined>()
  change(value, view, "", (one, at) => {
    if (isFileLike(one) && at.first(FILE_MARK) === "file") files.set(one, undefined)
    return one
  })
  for (const file of files.keys()) files.set(file, await toPlatformFile(file as FileLike))
  return files.size === 0 ? value : change(value, view, "", (one) => files.get(one) ?? one)
}

async function toPlatformFile(file: FileLike): Promise<File> {
  if (file instanceof File) return file
  const cure = "does not fit into memory. Use FileStream() in its schema, which streams it"
  const part = file instanceof Blob ? file : await readWhole(file, cure)
  return new File([part], file.name ?? "", { type: file.type })
}

type Role = "input" | "result"

type Leaf = string | Uint8Array | FileLike

/** Changes the text, bytes and files in a value; returns the value itself if none of them changed. */
function change(
  value: unknown,
  view: SchemaView,
  path: string,
  leaf: (one: Leaf, view: SchemaView, path: string) => unknown,
): unknown {
  if (typeof value === "string" || value instanceof Uint8Array || isFileLike(value)) {
    return leaf(value, view, path)
  }
  if (Array.isArray(value)) {
    const each = view.isTuple ? undefined : view.item(0)
    return changed(value, (item, at) => change(item, each ?? view.item(at), `${path}/${at}`, leaf))
  }
  if (!isRecord(value)) return value
  let out: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== "string" && typeof member !== "object") continue
    const now = change(member, view.property(name), path + pointerSegment(name), leaf)
    if (now !== member) setOwn((out ??= { ...value }), name, now)
  }
  return out ?? value
}

function changed(
  list: readonly unknown[],
  changeItem: (item: unknown, at: number) => unknown,
): readonly unknown[] {
  const out = list.map(changeItem)
  return out.some((item, at) => item !== list[at]) ? out : list
}

function decodeFile(
  value: string | Uint8Array,
  view: SchemaView,
  path: string,
  role: Role,
): unknown {
  const kind = fileKindOf(view)
  if (kind === undefined || kind === "text") return value
  const bytes = typeof value === "string" ? fromBase64(value) : value
  if (bytes === undefined) {
    if (kind !== "raw" || role === "result") return value
    const message = "must be base64 text, which stands for a file in JSON"
    throw invalid("VALIDATION_ERROR", "The input", [{ path, message }])
  }
  if (kind !== "stream") return bytes
  return new Blob([bytes as BlobPart], { type: mediaTypeOf(view) ?? "" })
}
