import { fromBase64 } from "../internal/base64.ts"
import { isRecord } from "../internal/guards.ts"
import { pointerSegment } from "../internal/pointer.ts"
import { fileKindOf, mediaTypeOf, withBase64 } from "../schema/file-fields.ts"
import { setOwn } from "../schema/json.ts"
import { type SchemaView, viewOf } from "../schema/read/view.ts"
import { invalid } from "./validation.ts"

/**
 * Converts base64 text in JSON to the files that it stands for, and bytes where a file is expected.
 *
 * Throws `VALIDATION_ERROR` for other text in the place of a file without our mark, such as that of an imported API:
 * its schema accepts any text. With our mark, and in a `result`, other text stays for validation to report.
 */
export function decodeFiles(schema: unknown, value: unknown, role: Role = "input"): unknown {
  const hasFiles = isRecord(schema) && withBase64(schema) !== schema
  return hasFiles ? decode(value, viewOf(schema), "", role) : value
}

type Role = "input" | "result"

function decode(value: unknown, view: SchemaView, path: string, role: Role): unknown {
  if (typeof value === "string" || value instanceof Uint8Array) {
    return decodeFile(value, view, path, role)
  }
  if (Array.isArray(value)) {
    const each = view.isTuple ? undefined : view.item(0)
    return changed(value, (item, at) => decode(item, each ?? view.item(at), `${path}/${at}`, role))
  }
  if (!isRecord(value)) return value
  let out: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== "string" && typeof member !== "object") continue
    const decoded = decode(member, view.property(name), path + pointerSegment(name), role)
    if (decoded !== member) setOwn((out ??= { ...value }), name, decoded)
  }
  return out ?? value
}

function changed(
  list: readonly unknown[],
  change: (item: unknown, at: number) => unknown,
): readonly unknown[] {
  const out = list.map(change)
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
