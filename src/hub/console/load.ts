import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"

/** A form in which the bytes of a file are kept. */
export interface FileForm {
  /** As in `Content-Encoding`; `undefined` for the file as it is. */
  readonly encoding: "br" | "gzip" | undefined
  readonly bytes: Uint8Array
  readonly etag: string
}

/** A file that is served. */
export interface ConsoleFile {
  readonly type: string
  /** Its name tells its content, so it never changes. */
  readonly isHashed: boolean
  /** The smallest first. */
  readonly forms: readonly FileForm[]
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
}

const ENCODINGS = { ".br": "br", ".gz": "gzip" } as const
const HASHED = /^assets\/.+-[\w-]{8}\.\w+$/

/**
 * The files of a folder by their paths, `assets/index-1a2b3c4d.js`; `undefined` when there is no page.
 *
 * All are read at once, so that no path of a request ever becomes the path of a file.
 */
export async function loadConsole(
  folder: string,
): Promise<ReadonlyMap<string, ConsoleFile> | undefined> {
  const paths = await filesBelow(folder)
  if (!paths.includes("index.html")) return undefined
  const plain = paths.filter((path) => encodingOf(path) === undefined)
  const files = await Promise.all(
    plain.map(async (path): Promise<[string, ConsoleFile]> => {
      const packed = paths.filter(
        (other) => encodingOf(other) !== undefined && other.slice(0, -3) === path,
      )
      const forms = await Promise.all([path, ...packed].map((one) => formOf(folder, one)))
      return [
        path,
        {
          type: TYPES[extname(path)] ?? "application/octet-stream",
          isHashed: HASHED.test(path),
          forms: forms.toSorted((left, right) => left.bytes.length - right.bytes.length),
        },
      ]
    }),
  )
  return new Map(files)
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  // Links are left out: they may lead anywhere.
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
}

async function formOf(folder: string, path: string): Promise<FileForm> {
  const bytes = await readFile(join(folder, path))
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22)
  return { encoding: encodingOf(path), bytes, etag: `"${hash}"` }
}

function encodingOf(path: string): FileForm["encoding"] {
  return ENCODINGS[extname(path) as keyof typeof ENCODINGS]
}
