import { readFile, stat } from "node:fs/promises"
import { isAbsolute, resolve } from "node:path"
import type { CommandIO } from "../model.ts"
import { UsageError } from "../model.ts"

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
      if (error instanceof UsageError) throw error
      const { code } = error as NodeJS.ErrnoException
      const cure = what.includes("=") ? ` For the text itself: ${what.replace("=@", "=@@")}` : ""
      throw new UsageError(`${what}: cannot read "${name}" (${reason(code)}).${cure}`)
    }
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
