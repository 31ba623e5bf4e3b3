import type { OpenAPIDocument, Place } from "./document.ts"

/** A part of the document that could not be imported exactly, and what is accepted instead. */
export interface Note {
  /** A JSON pointer from the root of the file. */
  readonly pointer: string
  /** The file, if it is not the document itself: relative to the document if it is below its folder. */
  readonly file?: string | undefined
  readonly message: string
  /** Informational: nothing is accepted that the document refuses. */
  readonly isNeutral?: true
}

/** Creates a note about a place. */
export function noteAt(
  { entry }: OpenAPIDocument,
  { file, pointer }: Pick<Place, "file" | "pointer">,
  message: string,
  isNeutral = false,
): Note {
  return {
    pointer,
    ...(file !== entry && { file: fileLabel(file.url, entry.url) }),
    message,
    ...(isNeutral && { isNeutral }),
  }
}

/** A file name for messages, without its query, which may contain a key. */
function fileLabel(url: string, entry: string): string {
  const folder = entry.slice(0, entry.lastIndexOf("/") + 1)
  const [plain = ""] = url.split("?", 1)
  return folder !== "" && plain.startsWith(folder) ? plain.slice(folder.length) : plain
}
