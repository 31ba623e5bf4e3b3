import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { promisify } from "node:util"
import { brotliDecompress, gzip } from "node:zlib"

/** A content coding; `undefined` for uncompressed bytes. */
export type Encoding = "br" | "gzip" | undefined

/** The bytes of a file in one encoding. */
export interface EncodedFile {
  readonly encoding: Encoding
  readonly bytes: Uint8Array
  readonly etag: string
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

const HASHED = /^assets\/.+-[\w-]{8}\.\w+$/
const COMPRESSED = ".br"

/**
 * Loads the files of a folder by path, `assets/index-1a2b3c4d.js`; `undefined` when there is no page.
 * A file that is stored compressed, `index-1a2b3c4d.js.br`, is found without its suffix. The page gets a title, as HTML.
 *
 * All are read up front, so the path of a request never becomes the path of a file.
 */
export async function loadConsole(
  folder: string,
  title = "Operations",
): Promise<ReadonlyMap<string, ConsoleFile> | undefined> {
  const stored = await filesBelow(folder)
  if (!stored.includes("index.html")) return undefined
  const files = await Promise.all(
    stored.map(async (name): Promise<[string, ConsoleFile]> => {
      const isCompressed = name.endsWith(COMPRESSED)
      const path = isCompressed ? name.slice(0, -COMPRESSED.length) : name
      const bytes = await readFile(join(folder, name))
      const isPage = path === "index.html"
      return [path, new ConsoleFile(path, isPage ? titled(bytes, title) : bytes, isCompressed)]
    }),
  )
  return new Map(files)
}

function titled(page: Uint8Array, title: string): Uint8Array {
  const html = new TextDecoder().decode(page)
  return new TextEncoder().encode(html.replace("<title>Operations", () => `<title>${title}`))
}

/** A file of the console. */
export class ConsoleFile {
  readonly type: string
  /** Its name contains a hash of its content, so the content never changes. */
  readonly isHashed: boolean
  readonly #bytes: Uint8Array
  readonly #isCompressed: boolean
  readonly #encoded = new Map<Encoding, Promise<EncodedFile>>()

  constructor(path: string, bytes: Uint8Array, isCompressed: boolean) {
    this.type = TYPES[extname(path)] ?? "application/octet-stream"
    this.isHashed = HASHED.test(path)
    this.#bytes = bytes
    this.#isCompressed = isCompressed
  }

  /** The smallest encoding that a client accepts. Each is created once, on first use. */
  encoded(accepts: (encoding: "br" | "gzip") => boolean): Promise<EncodedFile> {
    const encoding = (["br", "gzip"] as const).find((one) => this.#isCompressed && accepts(one))
    let made = this.#encoded.get(encoding)
    if (made === undefined) {
      made = this.#encode(encoding)
      this.#encoded.set(encoding, made)
    }
    return made
  }

  async #encode(encoding: Encoding): Promise<EncodedFile> {
    const bytes = await this.#bytesIn(encoding)
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22)
    return { encoding, bytes, etag: `"${hash}"` }
  }

  async #bytesIn(encoding: Encoding): Promise<Uint8Array> {
    if (!this.#isCompressed || encoding === "br") return this.#bytes
    const plain = await promisify(brotliDecompress)(this.#bytes)
    return encoding === "gzip" ? promisify(gzip)(plain) : plain
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  // Links are skipped: they may lead anywhere.
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
}
