import { open } from "node:fs/promises"
import { basename, resolve } from "node:path"

/** Generic names of documents. */
const DULL = /^(?:openapi|swagger|api|spec|schema|index|document)s?[._\-v\d]*$/i
const HEAD_BYTES = 64 * 1024
const MAX_LINE = 200
const MAX_TITLE = 40

/**
 * A namespace from the title of a document with a generic file name: `openapi.json`.
 *
 * Only its beginning is read; a document without a title there is named by its file.
 */
export async function titleOfFile(file: string, cwd: string): Promise<string | undefined> {
  if (!DULL.test(basename(file).replace(/\.(?:json|ya?ml)$/i, ""))) return undefined
  const head = await headOf(resolve(cwd, file))
  const line = /^[ \t{]*["']?title["']?[ \t]*:(.*)$/m.exec(head)?.[1]?.trim() ?? ""
  return line.length > MAX_LINE ? undefined : namespaceOf(line)
}

/** `Swagger Petstore - OpenAPI 3.0` as `petstore`. */
function namespaceOf(title: string): string | undefined {
  const words = title
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(
      (word) =>
        /^[a-z]/.test(word) &&
        !/^(?:the|rest|http|web|api|apis|openapi|swagger|service)$/.test(word),
    )
  let name = ""
  for (const word of words) {
    const longer = name === "" ? word : `${name}_${word}`
    if (longer.length > MAX_TITLE) break
    name = longer
  }
  return name === "" ? undefined : name
}

async function headOf(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString("utf8", 0, bytesRead)
  } catch {
    // A mistake in the file is reported when the source is opened.
    return ""
  }
}
