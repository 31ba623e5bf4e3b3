import { isCallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { allowingEntry } from "./load-file.ts"
import { parseText } from "./parse.ts"
import { fileOf, mentionsExternal, referencesAt, selfOf } from "./references.ts"
import type { FoundReference } from "./references.ts"

/** A document whose references have to be resolved. */
export interface EntryDocument {
  readonly document: unknown
  /** Absolute; references are relative to it. */
  readonly url: string
  /** The text of the document; saves walking a document that refers to no other file. */
  readonly text?: string | undefined
}

export interface FileLimits {
  /** Maximum number of files; 10,000. */
  readonly files?: number | undefined
  /** Maximum number of characters of all files together; 64 Mi. */
  readonly bytes?: number | undefined
}

/** The files that a document refers to, by absolute address without a fragment. */
export interface ExternalFiles {
  /** Without the document itself. A `$self` is an address too. */
  readonly documents: ReadonlyMap<string, unknown>
  /** Why a file was not loaded, as a clause that follows a colon. */
  readonly refused: ReadonlyMap<string, string>
  readonly warnings: readonly string[]
}

const MAX_FILES = 10_000
/** Maximum number of characters of all files that a document refers to. */
export const MAX_BYTES: number = 64 * 1024 * 1024
const MAX_CONCURRENT = 8

/**
 * Loads the files that a document refers to, and those that they refer to, each once.
 *
 * Only files that references really reach are loaded. A file that is not allowed or cannot be read does not
 * stop the others; an abort of `load` does.
 */
export async function loadExternal(
  entry: EntryDocument,
  load: (url: string) => Promise<string>,
  allow: (url: string) => boolean,
  limits: FileLimits = {},
): Promise<ExternalFiles> {
  const files = new Files(entry, load, allow, limits)
  if (entry.text === undefined || mentionsExternal(entry.text)) await files.followAll()
  return files.result()
}

/** References of one file that wait for the file they name. */
interface PendingFile {
  readonly url: string
  /** The address of the file relative to the `$self` of the referring document. */
  readonly alternative: string | undefined
  readonly refs: FoundReference[]
}

class Files {
  readonly #entryUrl: string
  readonly #documents = new Map<string, unknown>()
  readonly #refused = new Map<string, string>()
  readonly #warnings: string[] = []
  readonly #seen = new Set<object>()
  readonly #load: (url: string) => Promise<string>
  readonly #allow: (url: string) => boolean
  readonly #maxFiles: number
  readonly #maxBytes: number
  #loaded = 0
  #bytes = 0
  /** Files that were not loaded because of a limit. */
  readonly #lost = { files: 0, bytes: 0 }
  #wanted = new Map<string, PendingFile>()

  constructor(
    entry: EntryDocument,
    load: (url: string) => Promise<string>,
    allow: (url: string) => boolean,
    limits: FileLimits,
  ) {
    this.#entryUrl = fileOf(entry.url, entry.url) ?? entry.url
    this.#documents.set(this.#entryUrl, entry.document)
    this.#load = load
    this.#allow = allow
    this.#maxFiles = limits.files ?? MAX_FILES
    this.#maxBytes = limits.bytes ?? MAX_BYTES
  }

  async followAll(): Promise<void> {
    this.#walk(this.#entryUrl, [{ ref: "", isMap: false }])
    while (this.#wanted.size > 0) {
      const wave = [...this.#wanted.values()]
      this.#wanted = new Map()
      for (let at = 0; at < wave.length; at += MAX_CONCURRENT) {
        await Promise.all(wave.slice(at, at + MAX_CONCURRENT).map((wanted) => this.#fetch(wanted)))
      }
      for (const { url, refs } of wave) if (this.#documents.has(url)) this.#walk(url, refs)
    }
  }

  result(): ExternalFiles {
    for (const [url, document] of [...this.#documents]) {
      const self = selfOf(document, url)
      if (self === undefined || this.#documents.has(self)) continue
      this.#documents.set(self, document)
      this.#refused.delete(self)
    }
    this.#documents.delete(this.#entryUrl)
    const warnings = [...this.#warnings, ...this.#limitWarnings()]
    return { documents: this.#documents, refused: this.#refused, warnings }
  }

  *#limitWarnings(): Generator<string> {
    const { files, bytes } = this.#lost
    const lost = (count: number): string =>
      `${count === 1 ? "1 file was" : `${count} files were`} not loaded, and the operations that need ` +
      `${count === 1 ? "it" : "them"} are not complete.`
    if (files > 0) {
      yield `The document refers to more than ${this.#maxFiles} files: ${lost(files)} Raise "maxFiles" to load all.`
    }
    if (bytes > 0) {
      yield `The files of the document have more than ${this.#maxBytes} characters together: ${lost(bytes)} Raise "maxDocumentBytes" to load all.`
    }
  }

  /** Walks the targets of references into a file, including references within the file. */
  #walk(url: string, references: readonly FoundReference[]): void {
    const root = this.#documents.get(url)
    const self = selfOf(root, url)
    const todo = [...references]
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      for (const reference of referencesAt(root, next, this.#seen)) {
        const target = fileOf(reference.ref, url)
        const alternative = self === undefined ? undefined : fileOf(reference.ref, self)
        const isHere = target === url || (self !== undefined && alternative === self)
        if (target === undefined) this.#refused.set(reference.ref, "it is not a valid address")
        else if (isHere) todo.push(reference)
        else this.#want(target, alternative, reference)
      }
    }
  }

  #want(url: string, alternative: string | undefined, reference: FoundReference): void {
    if (this.#refused.has(url)) return
    // Files that are already loaded are walked in the next round, for this reference.
    const wanted = this.#wanted.get(url)
    if (wanted === undefined) this.#wanted.set(url, { url, alternative, refs: [reference] })
    else wanted.refs.push(reference)
  }

  async #fetch({ url, alternative }: PendingFile): Promise<void> {
    if (this.#documents.has(url)) return
    const address = [url, alternative].find((one) => one !== undefined && this.#allow(one))
    if (address === undefined) return this.#refuse(url, notAllowed(url, this.#entryUrl))
    if (this.#bytes > this.#maxBytes) return this.#refuseLarge(url)
    if (++this.#loaded > this.#maxFiles) {
      this.#lost.files++
      return this.#refuse(url, `the document refers to more than ${this.#maxFiles} files`)
    }
    try {
      const text = await this.#load(address)
      this.#bytes += text.length
      if (this.#bytes > this.#maxBytes) return this.#refuseLarge(url)
      const { value, warnings } = parseText(text, { what: `"${nameOf(url)}"` })
      this.#documents.set(url, value)
      this.#warnings.push(...warnings)
    } catch (thrown) {
      if (isCallError(thrown, "ABORTED") || isCallError(thrown, "TIMEOUT")) throw thrown
      const reason = reasonOf(thrown).replace(/\.$/, "")
      if (isCallError(thrown, "PAYLOAD_TOO_LARGE")) {
        this.#warnings.push(`The file "${nameOf(url)}" was not loaded: ${reason}.`)
      }
      this.#refuse(url, reason)
    }
  }

  #refuseLarge(url: string): void {
    this.#lost.bytes++
    this.#refuse(url, "the files of the document are too large together")
  }

  #refuse(url: string, reason: string): void {
    this.#refused.set(url, reason)
  }
}

function notAllowed(url: string, documentUrl: string): string {
  const entry = allowingEntry(url, documentUrl)
  const cure = entry === undefined ? "" : `; to load it, add ${JSON.stringify(entry)} there`
  return `it is neither below the document's folder nor named in "allowedReferences"${cure}`
}

function nameOf(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1)
}
