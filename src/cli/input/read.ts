import { openAsBlob } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { basename, isAbsolute, resolve } from "node:path"
import { UsageError, type CommandIO } from "../model.ts"

const MAX_BYTES = 256 * 1024 * 1024

/** Reads files and stdin for inputs; stdin at most once. */
export class InputReader {
  readonly #io: Pick<CommandIO, "stdin" | "cwd" | "signal">
  #stdinFor: string | undefined

  constructor(io: Pick<CommandIO, "stdin" | "cwd" | "signal">) {
    this.#io = io
  }

  /** Reads the bytes of a file; `what` is the argument that named it, for errors. */
  async file(name: string, what: string): Promise<Uint8Array> {
    const path = isAbsolute(name) ? name : resolve(this.#io.cwd, name)
    try {
      const { size } = await stat(path)
      if (size > MAX_BYTES) throw new UsageError(`${what}: "${name}" is larger than 256 MiB.`)
      return new Uint8Array(await readFile(path, { signal: this.#io.signal }))
    } catch (error) {
      throw unreadable(error, name, what)
    }
  }

  /** Opens a file with its name; it is read when it is sent. */
  async blob(name: string, what: string): Promise<File> {
    const path = isAbsolute(name) ? name : resolve(this.#io.cwd, name)
    try {
      // Opening does not fail for a folder.
      if (!(await stat(path)).isFile()) throw Object.assign(new Error(), { code: "EISDIR" })
      return new File([await openAsBlob(path)], basename(path))
    } catch (error) {
      throw unreadable(error, name, what)
    }
  }

  /** Whether stdin was read, so that it cannot be read again. */
  get usedStdin(): boolean {
    return this.#stdinFor !== undefined
  }

  /** Reads all of stdin. */
  async stdin(what: string): Promise<Uint8Array> {
    if (this.#stdinFor !== undefined) {
      throw new UsageError(`${what}: stdin was read for ${this.#stdinFor} already.`)
    }
    this.#stdinFor = what
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of this.#io.stdin) {
      const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk
      length += bytes.length
      if (length > MAX_BYTES) throw new UsageError(`${what}: stdin is larger than 256 MiB.`)
      chunks.push(bytes)
    }
    return new Uint8Array(Buffer.concat(chunks))
  }
}

/** Decodes bytes as UTF-8, without a byte order mark; throws a `UsageError` when they are not text. */
export function textOf(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(`${what}: that is not UTF-8 text, and no bytes are taken here.`)
  }
}

function unreadable(error: unknown, name: string, what: string): UsageError {
  if (error instanceof UsageError) return error
  const { code } = error as NodeJS.ErrnoException
  const cure = what.includes("=") ? ` For the text itself: ${what.replace("=@", "=@@")}` : ""
  return new UsageError(`${what}: cannot read "${name}" (${reason(code)}).${cure}`)
}

function reason(code: string | undefined): string {
  switch (code) {
    case "ENOENT":
      return "there is no such file"
    case "EISDIR":
      return "it is a folder"
    case "EACCES":
      return "not allowed"
    default:
      return code ?? "it failed"
  }
}
