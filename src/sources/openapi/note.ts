import type { OpenAPIDocument, Place } from "./document.ts"

/** Something that could not be taken over as it is written, and what is accepted instead. */
export interface Note {
  /** A JSON pointer from the root of the file. */
  readonly pointer: string
  /** The file, where it is not the document itself: relative to the document if it is below its folder. */
  readonly file?: string | undefined
  readonly message: string
  /** Good to know, but nothing is accepted that the document refuses. */
  readonly isNeutral?: true
}

/** A note on a place. */
export function noteAt(
  { entry }: OpenAPIDocument,
  { file, pointer }: Pick<Place, "file" | "pointer">,
  message: string,
  isNeutral = false,
): Note {
  return {
    pointer,
    ...(file !== entry && { file: shownFile(file.url, entry.url) }),
    message,
    ...(isNeutral && { isNeutral }),
  }
}

/** A query may hold a key, and the folder of the document is known. */
function shownFile(url: string, entry: string): string {
  const folder = entry.slice(0, entry.lastIndexOf("/") + 1)
  const [plain = ""] = url.split("?", 1)
  return folder !== "" && plain.startsWith(folder) ? plain.slice(folder.length) : plain
}
